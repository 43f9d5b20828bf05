import type { Channel } from './channels.ts';
import { isJson } from './json.ts';
import type { Json } from './page-api.ts';
import { Roster } from './roster.ts';
import type { StoredMessage } from './stored-message.ts';

/** Finds whom a message notifies by name: mentions in mrkdwn and in rich text, never in plain text. */
export function findPings(message: StoredMessage, named: Named = {}): readonly string[] {
  const fromBlocks = message.blocks.flatMap((block) => pingsIn(block, named));
  return [...new Set([...pingsInText(message.text, named), ...fromBlocks])];
}

function pingsIn(part: unknown, named: Named): readonly string[] {
  if (Array.isArray(part)) return part.flatMap((each) => pingsIn(each, named));
  if (!isJson(part)) return [];
  return ownPings(part, named) ?? Object.values(part).flatMap((each) => pingsIn(each, named));
}

function ownPings(part: Json, named: Named): readonly string[] | undefined {
  if (part.type === 'mrkdwn' || part.type === 'markdown') return pingsInText(String(part.text), named);
  if (part.type === 'broadcast') return [`@${String(part.range)}`];
  if (part.type === 'user') return [personName(String(part.user_id), named)];
  if (part.type === 'usergroup') return [groupName(String(part.usergroup_id), named)];
  return undefined;
}

function pingsInText(text: string, named: Named): readonly string[] {
  return [...text.matchAll(/<(@|!subteam\^|!)(\w+)(?:\^[^<>]*)?(?:\|[^<>]*)?>/g)].flatMap(
    ([, kind, name = '']) => {
      if (kind === '@') return [personName(name, named)];
      if (kind === '!subteam^') return [groupName(name, named)];
      return ['channel', 'here', 'everyone'].includes(name) ? [`@${name}`] : [];
    },
  );
}

/** What the renderers must know of the workspace. */
export interface Surroundings {
  readonly channels: readonly Pick<Channel, 'id' | 'name' | 'kind'>[];
  /** Those of a fresh workspace, unless said otherwise. */
  readonly roster?: Roster | undefined;
  /** Epoch milliseconds, for `{ago}`. */
  readonly now: number;
}

/** Where names are looked up. */
type Named = Pick<Surroundings, 'roster'>;

const fresh = new Roster();

export function personName(id: string, { roster = fresh }: Named): string {
  return `@${roster.findUser(id)?.name ?? id}`;
}

export function channelName(id: string, around: Surroundings): string {
  const channel = around.channels.find((each) => each.id === id);
  return channel && channel.kind !== 'dm' ? `#${channel.name}` : '#private channel';
}

export function groupName(id: string, { roster = fresh }: Named): string {
  return `@${roster.findGroup(id)?.handle ?? id}`;
}
