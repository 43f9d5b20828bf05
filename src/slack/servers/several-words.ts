import type { KnownBlock } from '@slack/types';
import type { PowerChange } from '../../app/servers/change-power.ts';
import type { LeftOutServer, SelectedServer, SelectedServers } from '../../app/servers/select-servers.ts';
import type { Refusal } from '../../domain/errors.ts';
import type { FollowedServer } from '../../domain/followed-act.ts';
import { freezeBriefly } from '../../domain/label.ts';
import type { PowerAction, Server } from '../../domain/server.ts';
import { actions, context, type Message, section, textMessage } from '../kit/blocks.ts';
import { stateWords } from '../kit/server-state.ts';
import { codeLabel, count, mention, plainLabel } from '../kit/text.ts';
import { severalButton } from './buttons.ts';
import { confirmationOfSeveral } from './confirm-dialogs.ts';
import { serverLines, severalActWords } from './follow-words.ts';
import { rebootedWords } from './refusal-words.ts';
import { VERBS } from './verbs.ts';

/** A section takes 3,000 characters, and each of a label's 40 may be five when it is escaped. */
const IN_A_SECTION = 10;
const LEFT_OUT_SHOWN = 10;

/** Lists what the patterns matched, and asks. `explain` says why words matched nothing. */
export function selectionMessage(
  action: PowerAction,
  { confirmation, chosen, leftOut, unmatched }: SelectedServers,
  explain: (error: Refusal) => string,
): Message {
  const { title, past } = VERBS[action];
  const others = [
    ...(leftOut.length > 0 ? [context(leftOutWords(past, leftOut))] : []),
    ...unmatched.slice(0, LEFT_OUT_SHOWN).map((error) => section(explain(error))),
  ];
  if (chosen.length === 0) return textMessage(`Nothing was ${past}.`, ...others);
  const servers = chosen.map(({ server }) => server);
  return textMessage(
    `${title} ${chosen.length === 1 ? 'this server' : `these ${chosen.length} servers`}?`,
    ...listBlocks(chosen),
    ...others,
    askBlock(action, confirmation, servers),
    context(
      'Nothing has changed yet. The button affects only the servers in this list and works for 10 minutes.',
    ),
  );
}

/** The button that acts on exactly these servers. */
export function askBlock(
  action: PowerAction,
  { id, at }: SelectedServers['confirmation'],
  servers: readonly Server[],
): KnownBlock {
  const text = `${VERBS[action].title} ${count(servers.length, 'server')}`;
  return actions(
    severalButton[action].element(
      text,
      { id, at, servers: freeze(servers) },
      { style: action === 'start' ? 'primary' : 'danger' },
    ),
  );
}

/** The button that acts again on those servers on which the action was proven not to be carried out; it asks before. */
export function retryBlock(
  action: PowerAction,
  { id, at }: SelectedServers['confirmation'],
  failed: readonly NamedServer[],
): KnownBlock {
  const [only] = failed;
  const which = only && failed.length === 1 ? plainLabel(only.label, 40) : count(failed.length, 'server');
  const confirm = confirmationOfSeveral(action, failed.length);
  return actions(
    severalButton[action].element(`Try again for ${which}`, { id, at, servers: freeze(failed) }, { confirm }),
  );
}

type NamedServer = Pick<Server, 'id' | 'label'>;

function freeze(servers: readonly NamedServer[]): [number, string][] {
  return servers.map(({ id, label }) => [id, freezeBriefly(label)]);
}

function listBlocks(chosen: readonly SelectedServer[]): KnownBlock[] {
  const lines = chosen.map(lineOf);
  const parts = Array.from({ length: Math.ceil(lines.length / IN_A_SECTION) }, (_, part) =>
    lines.slice(part * IN_A_SECTION, (part + 1) * IN_A_SECTION),
  );
  return parts.map((part) => section(part.join('\n')));
}

function lineOf({ server, reboot }: SelectedServer): string {
  const line = `${codeLabel(server.label, 40)} ${stateWords(server)}`;
  return reboot ? `${line}, ${rebootedWords(reboot)}` : line;
}

function leftOutWords(past: string, leftOut: readonly LeftOutServer[]): string {
  const named = leftOut.slice(0, LEFT_OUT_SHOWN).map(({ server, protectedBy }) => {
    const why = protectedBy === undefined ? stateWords(server) : `protected by ${mention(protectedBy)}`;
    return `${codeLabel(server.label, 40)} (${why})`;
  });
  const more = leftOut.length - named.length;
  return `Won’t be ${past}: ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** What was accepted, as it stands by the answers: "stopped `web-1` and is stopping `db-1`". */
export function severalWords(action: PowerAction, changes: readonly PowerChange[], be: 'is' | 'are'): string {
  return severalActWords(changes.map(toServer), action, be);
}

/** The same as a list, where there are several. */
export function severalList(action: PowerAction, changes: readonly PowerChange[]): KnownBlock[] {
  return changes.length > 1 ? serverLines(changes.map(toServer), { action, isMeasured: true }) : [];
}

function toServer({ server: { id, label }, state }: PowerChange): FollowedServer {
  return { serverId: id, label, standing: 'waiting', hasChanged: false, state };
}
