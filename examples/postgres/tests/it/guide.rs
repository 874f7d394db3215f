//! The code in the guide is the code of this example.

const PAGE: &str = include_str!("../../../../docs/guide/ack.md");
const SOURCES: [&str; 3] = [
    include_str!("../../src/schema.sql"),
    include_str!("../../src/store.rs"),
    include_str!("../../src/bin/client.rs"),
];

#[test]
fn code_of_the_section_is_in_the_sources() {
    let (_, section) = PAGE.split_once("\n## Into PostgreSQL\n").expect("the section");
    let (section, _) = section.split_once("\n## ").expect("the next section");
    let blocks = section.split("```").skip(1).step_by(2);
    let mut count = 0;
    for block in blocks {
        let (_language, code) = block.split_once('\n').expect("lines of code");
        // A part of a function is not indented in the guide.
        let unindented =
            |text: &str| text.lines().map(str::trim_start).collect::<Vec<_>>().join("\n");
        let code = unindented(code);
        assert!(SOURCES.iter().any(|source| unindented(source).contains(&code)), "{code}");
        count += 1;
    }
    assert!(count >= 3, "{count} blocks");
}
