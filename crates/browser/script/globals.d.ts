// What pages and scenarios put into the window, and the charting library, which a page carries packed.

interface Window {
  purlinReport: any;
  /** Stops of the focus, in the order in which Tab reached them. */
  passed: string[];
  /** How often a picture was drawn. */
  drawn: number;
  /** Set by text that was taken for markup. */
  hostile: unknown;
}

declare const echarts: any;
