// Globals of pages and scenarios, and the charting library, which is bundled in a page.

interface Window {
  purlinReport: any;
  /** Focused elements, in the order in which Tab reached them. */
  passed: string[];
  /** Number of times a picture was drawn. */
  drawn: number;
  /** Set by text that was interpreted as markup. */
  hostile: unknown;
}

declare const echarts: any;
