import type { MessageCommand } from '../../domain/message-command.ts';
import { POWER_ACTIONS } from '../../domain/server.ts';
import { actions, type Message, textMessage } from '../kit/blocks.ts';
import { codeLabel, codeTyped, count } from '../kit/text.ts';
import { checkElement } from '../servers/follow-message.ts';

/** Beyond this many, servers are only counted. */
const MOST_NAMED = 6;

/** What a user reads if a crash interrupted the command in their message. */
export function interruptedMessage({ name, hasBegun, servers }: MessageCommand): Message {
  if (!hasBegun) return textMessage(`${notBegun(name)} Send it again if you still want this.`);
  const action = POWER_ACTIONS.find((each) => each === name);
  if (!action || servers.length === 0) {
    const what = name === undefined ? 'your message' : codeTyped(name);
    return textMessage(
      `The app was interrupted while it worked on ${what}. ${UNKNOWN} Check before you send it again.`,
    );
  }
  const [only, ...others] = servers;
  const isAlone = only !== undefined && others.length === 0;
  const what = isAlone ? codeTyped(`${action} ${only.label}`) : `${codeTyped(action)} for ${named(servers)}`;
  const unknown = isAlone ? UNKNOWN : 'We can’t tell which of these servers were changed.';
  const check = isAlone ? 'Check the server’s state' : 'Check the servers’ state';
  const checked = servers.map(({ id: serverId, label }) => ({ serverId, label }));
  return textMessage(
    `The app was interrupted while it worked on ${what}. ${unknown} No other server was changed. ${check} before you send it again.`,
    actions(checkElement(action, checked, {})),
  );
}

const UNKNOWN = 'We can’t tell whether it was done.';

function notBegun(name: string | undefined): string {
  return name === undefined
    ? 'The app was interrupted before it could answer your message. Nothing was changed.'
    : `The app was interrupted before it could finish ${codeTyped(name)}. Nothing was changed.`;
}

function named(servers: MessageCommand['servers']): string {
  if (servers.length > MOST_NAMED) return count(servers.length, 'server');
  return servers.map(({ label }) => codeLabel(label, 40)).join(', ');
}
