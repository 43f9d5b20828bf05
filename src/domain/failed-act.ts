import type { ServerId } from './ids.ts';
import type { PowerAction } from './server.ts';

/** What can be done to a server for free. */
export type ServerAct = PowerAction | 'delete';

/** What was not done to which server: errors name both. */
export interface FailedAct {
  readonly act: ServerAct;
  readonly label: string;
  /** Absent when the server was not found before the failure. */
  readonly serverId?: ServerId;
  /** Whether the paid time of the server has ended. */
  readonly isPaidTimeOver?: boolean;
}
