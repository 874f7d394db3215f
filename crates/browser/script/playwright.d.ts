// Properties that drive.mjs adds to a Playwright page.

import "playwright-core";

declare module "playwright-core" {
  interface Page {
    /** Errors, warnings and foreign requests of the page. */
    complaints: string[];
    /** The complaints that a scenario expects. */
    expected?: string[];
  }
}
