// What drive.mjs adds to a page of Playwright's.

import "playwright-core";

declare module "playwright-core" {
  interface Page {
    /** What the page should not have done: errors, warnings and requests. */
    complaints: string[];
    /** The complaints that a scenario expects. */
    expected?: string[];
  }
}
