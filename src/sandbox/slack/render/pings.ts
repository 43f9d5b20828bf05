import { isJson } from '../json.ts';
import type { StoredMessage } from '../messages.ts';
import type { Json } from '../page-api.ts';
import { groupName, personName } from './names.ts';

/** Finds whom a message notifies by name: mentions in mrkdwn and in rich text, never in plain text. */
export function findPings(message: StoredMessage): readonly string[] {
  const fromBlocks = message.blocks.flatMap(pingsIn);
  return [...new Set([...pingsInText(message.text), ...fromBlocks])];
}

function pingsIn(part: unknown): readonly string[] {
  if (Array.isArray(part)) return part.flatMap(pingsIn);
  if (!isJson(part)) return [];
  const own = ownPings(part);
  return own ?? Object.values(part).flatMap(pingsIn);
}

function ownPings(part: Json): readonly string[] | undefined {
  if (part.type === 'mrkdwn' || part.type === 'markdown') return pingsInText(String(part.text));
  if (part.type === 'broadcast') return [`@${String(part.range)}`];
  if (part.type === 'user') return [personName(String(part.user_id))];
  if (part.type === 'usergroup') return [groupName(String(part.usergroup_id))];
  return undefined;
}

function pingsInText(text: string): readonly string[] {
  return [...text.matchAll(/<(@|!subteam\^|!)(\w+)(?:\^[^<>]*)?(?:\|[^<>]*)?>/g)].flatMap(
    ([, kind, name = '']) => {
      if (kind === '@') return [personName(name)];
      if (kind === '!subteam^') return [groupName(name)];
      return ['channel', 'here', 'everyone'].includes(name) ? [`@${name}`] : [];
    },
  );
}
