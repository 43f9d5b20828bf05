import type { KnownBlock } from '@slack/types';
import { changePower, type PowerChange } from '../../app/servers/change-power.ts';
import type { ServerRef } from '../../app/servers/find-server.ts';
import type { PowerAction } from '../../domain/server.ts';
import { actions, type Message, section, textMessage } from '../kit/blocks.ts';
import { type Command, defineCommand } from '../kit/command.ts';
import { codeLabel, codeTyped, count, escapeText } from '../kit/text.ts';
import type { SlackRequest } from '../transport/request.ts';
import { sendWaiting } from '../transport/waiting.ts';
import { rebootButton, showButton, startButton, stopButton } from './buttons.ts';
import { offerServers, pickChoice } from './pick-server.ts';

/** More servers than this in one command are probably a mistake. */
const MOST_AT_ONCE = 20;

export const start = definePowerCommand('start', 'Starts servers');
export const stop = definePowerCommand('stop', 'Stops servers; they stay paid');
export const reboot = definePowerCommand('reboot', 'Reboots servers');

const PAST = { start: 'started', stop: 'stopped', reboot: 'rebooted' } as const;

function definePowerCommand(action: PowerAction, summary: string): Command {
  const button = { start: startButton, stop: stopButton, reboot: rebootButton }[action];
  return defineCommand({
    name: action,
    usage: `${action} <server>…`,
    summary,
    needs: 'operator',
    parse: ({ words }) => {
      const names = [...new Set(words.flatMap((word) => word.split(',')).filter((word) => word !== ''))];
      if (names.length === 0) return 'Which server? Give its label, id or IPv4 address.';
      if (names.length > MOST_AT_ONCE) return `At most ${MOST_AT_ONCE} servers at once.`;
      return { names };
    },
    run: async ({ names }, request) => {
      const [only] = names;
      if (names.length > 1 || only === undefined) return runSeveral(action, names, request);
      return offerServers(action, { typed: only }, request, (ref) => run(action, ref, request));
    },
    actions: [
      button.on(({ id }, request) => run(action, { id }, request)),
      pickChoice[action].on((id, request) => run(action, { id: Number(id) }, request)),
    ],
  });
}

/** One after the other, even if one fails. Reported together, since Slack accepts only five replies to a command. */
async function runSeveral(
  action: PowerAction,
  names: readonly string[],
  request: SlackRequest,
): Promise<void> {
  await request.authorize(changePower[action]);
  const onWait = once(sendWaiting(request));
  const done: string[] = [];
  const others: KnownBlock[] = [];
  for (const [place, typed] of names.entries()) {
    // The same signed request acts once on each server that it names.
    const subrequest = request.subrequest(place);
    try {
      const change = await subrequest.execute(changePower[action], { ref: { typed }, onWait });
      if (change.isUnconfirmed) others.push(...unconfirmedMessage(action, change).blocks);
      else done.push(codeLabel(change.server.label, 40));
    } catch (error) {
      others.push(section(`${codeTyped(typed)}: ${subrequest.explain(error)}`));
    }
  }
  await reportSeveral(action, done, others, request);
}

/** Announces in the channel what was done, and tells the user the rest, including what could not be announced. */
async function reportSeveral(
  action: PowerAction,
  done: readonly string[],
  others: readonly KnownBlock[],
  request: SlackRequest,
): Promise<void> {
  const isAnnounced = done.length > 0 && (await request.announce(`${PAST[action]} ${done.join(', ')}`));
  if (isAnnounced && others.length === 0) return;
  const unannounced = done.length > 0 && !isAnnounced ? `: ${done.join(', ')}` : '';
  const words = `${count(done.length, 'server')} ${done.length === 1 ? 'was' : 'were'} ${PAST[action]}${unannounced}.`;
  await request.reply.send(textMessage(words, ...others));
}

function once(act: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) act();
    isDone = true;
  };
}

async function run(action: PowerAction, ref: ServerRef, request: SlackRequest): Promise<void> {
  const change = await request.execute(changePower[action], { ref, onWait: sendWaiting(request) });
  if (change.isUnconfirmed) {
    await request.reply.send(unconfirmedMessage(action, change));
    return;
  }
  const label = codeLabel(change.server.label);
  const state = change.state ? ` It is ${escapeText(change.state)} now.` : '';
  const isAnnounced = await request.announce(`${PAST[action]} ${label}`);
  if (!isAnnounced || state !== '')
    await request.reply.send(textMessage(`${label} was ${PAST[action]}.${state}`));
}

/** What the user is told when a power action was not answered. */
export function unconfirmedMessage(action: PowerAction, { server, state }: PowerChange): Message {
  const seen = state ? ` A look right after showed it as ${escapeText(state)}.` : '';
  return textMessage(
    `We don’t know whether ${codeLabel(server.label)} was ${PAST[action]}: the hosting API’s answer did not arrive.${seen}`,
    actions(showButton.element('Look again', { id: server.id })),
  );
}
