import type { ServerAct } from './failed-act.ts';
import type { ServerId, UserId } from './ids.ts';
import type { ListExtent, PowerAction, Server } from './server.ts';

/** The refusals about servers, with the details of each. */
export interface ServerRefusalDetails {
  /**
   * `near`: several labels are equally near. `act`: what was to be done to the server. `extent`: of the list that doesn't
   * have it; absent if that list is whole.
   */
  unknown_server: {
    typed: string;
    nearest?: string;
    nearestId?: ServerId;
    near?: readonly Server[];
    act?: PowerAction;
    extent?: Exclude<ListExtent, 'whole'>;
  };
  ambiguous_server: { typed: string; servers: readonly Server[] };
  label_differs: { typed: string; label: string };
  too_many_servers: { count: number; most: number; action: PowerAction };
  /** An owner protects the server: it can't be stopped, rebooted or deleted. */
  server_protected: { server: Pick<Server, 'id' | 'label'>; act: ServerAct; protectedBy: UserId };
  /** Only the beginning of a label was typed: the user has to confirm which server was meant. */
  prefix_only: { typed: string; server: Server; action: PowerAction };
  /** The server was rebooted a moment ago, perhaps by someone else: the user has to confirm another reboot. */
  rebooted_recently: { server: Server; agoMs: number; rebootedBy: UserId };
  /** The server has another label than the one that the user confirmed. */
  server_renamed: { before: string; now: string; action: PowerAction };
  /** The list of servers was confirmed too late. */
  confirmation_expired: { action: PowerAction };
}
