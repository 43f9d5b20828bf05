import type { ServerCard } from '../../app/servers/show-server.ts';
import { describeActOnIt } from '../account/audit-sentence.ts';
import { slackDate } from '../kit/text.ts';

/** Who did what to a server last, with its result. */
export function describeLast(last: NonNullable<ServerCard['last']>): string {
  return `Last action: ${describeActOnIt(last)}, ${slackDate(last.at)}`;
}
