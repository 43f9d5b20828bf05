import type { KnownBlock } from '@slack/types';
import type { PowerChange } from '../../app/servers/change-power.ts';
import type { FollowedServer } from '../../domain/followed-act.ts';
import { omitUndefined } from '../../domain/omit-undefined.ts';
import type { PowerAction } from '../../domain/server.ts';
import { serverLines, severalActWords } from './follow-words.ts';

/** What was accepted, as it stands by the answers: "stopped `web-1` and is stopping `db-1`". */
export function severalWords(action: PowerAction, changes: readonly PowerChange[], be: 'is' | 'are'): string {
  return severalActWords(changes.map(toServer), action, be);
}

/** The same as a list, where there are several. */
export function severalList(action: PowerAction, changes: readonly PowerChange[]): KnownBlock[] {
  return changes.length > 1 ? serverLines(changes.map(toServer), { action, isMeasured: true }) : [];
}

function toServer({ server: { id, label }, state }: PowerChange): FollowedServer {
  return { serverId: id, label, standing: 'waiting', hasChanged: false, ...omitUndefined({ state }) };
}
