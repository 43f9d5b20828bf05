import type { Grant } from '../../app/ports.ts';
import { context, type Message, say } from '../kit/blocks.ts';
import { count, mention } from '../kit/text.ts';

/** As many lines as one paragraph surely holds. */
const LINES_MOST = 40;

/** Who has which role here. */
export function accessMessage(access: {
  readonly grants: readonly Grant[];
  readonly owners: readonly string[];
}): Message {
  const lines = [
    ...access.owners.map((id) => `${mention(id)} *owner* (named in \`OWNERS\`)`),
    ...access.grants.map(
      ({ subjectId, role, grantedBy }) => `${mention(subjectId)} *${role}* (given by ${mention(grantedBy)})`,
    ),
  ];
  const shown = lines.slice(0, LINES_MOST);
  const rest = lines.length - shown.length;
  const more = rest > 0 ? `\nand ${count(rest, 'other')}` : '';
  return say(
    `${shown.join('\n') || 'Nobody has a role by grant.'}${more}`,
    context('Slack’s workspace admins are owners too, where the app may ask Slack who they are.'),
  );
}
