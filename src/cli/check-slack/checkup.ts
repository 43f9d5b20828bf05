import type { Report } from './report.ts';
import type { Granted } from './scopes.ts';
import type { WebApi } from './web-api.ts';

/** What every check after the token's works with. */
export interface Checkup {
  readonly api: WebApi;
  readonly report: Report;
  readonly granted: Granted;
  /** The app's own user. */
  readonly botUserId: string;
  /** Who gets the direct message. */
  readonly userId: string | undefined;
  /** `OWNERS`. */
  readonly owners: readonly string[];
}
