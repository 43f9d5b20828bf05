import type { KnownBlock } from '@slack/types';
import { changePower, type PowerChange } from '../../app/servers/change-power.ts';
import type { PowerAction } from '../../domain/server.ts';
import { section, textMessage } from '../kit/blocks.ts';
import { codeLabel, codeTyped, count } from '../kit/text.ts';
import type { SlackRequest } from '../transport/request.ts';
import { sendWaiting } from '../transport/waiting.ts';
import { isThere, unconfirmedMessage } from './power-words.ts';
import { VERBS } from './verbs.ts';

/** One after the other, even if one fails. Reported together, since Slack accepts only five replies to a command. */
export async function runSeveral(
  action: PowerAction,
  names: readonly string[],
  request: SlackRequest,
): Promise<void> {
  await request.authorize(changePower[action]);
  const onWait = once(sendWaiting(request));
  const done: PowerChange[] = [];
  const others: KnownBlock[] = [];
  for (const [place, typed] of names.entries()) {
    // The same signed request acts once on each server that it names.
    const subrequest = request.subrequest(place);
    try {
      const change = await subrequest.execute(changePower[action], { ref: { typed }, onWait });
      if (change.isUnconfirmed) others.push(...unconfirmedMessage(action, change).blocks);
      else done.push(change);
    } catch (error) {
      others.push(section(`${codeTyped(typed)}: ${subrequest.explain(error)}`));
    }
  }
  await reportSeveral(action, done, others, names.length, request);
}

/** Announces in the channel what was done, and tells the user the rest, including what could not be announced. */
async function reportSeveral(
  action: PowerAction,
  done: readonly PowerChange[],
  others: readonly KnownBlock[],
  total: number,
  request: SlackRequest,
): Promise<void> {
  const announced = done.length > 0 && (await request.announce(severalWords(action, done, 'is')));
  if (announced && others.length === 0) return;
  const words =
    done.length > 0 && !announced
      ? `You ${severalWords(action, done, 'are')}.`
      : `*${VERBS[action].title}* was accepted for ${done.length} of ${count(total, 'server')}.`;
  await request.reply.send(textMessage(words, ...others));
}

/** "stopped `web-1`, `web-2` and is stopping `db-1`": what is not there yet is not told as done. */
function severalWords(action: PowerAction, changes: readonly PowerChange[], be: 'is' | 'are'): string {
  const labelsOf = (some: readonly PowerChange[]) =>
    some.map(({ server }) => codeLabel(server.label, 40)).join(', ');
  const there = changes.filter((change) => isThere(action, change));
  const underway = changes.filter((change) => !isThere(action, change));
  return [
    ...(there.length > 0 ? [`${VERBS[action].past} ${labelsOf(there)}`] : []),
    ...(underway.length > 0 ? [`${be} ${VERBS[action].present} ${labelsOf(underway)}`] : []),
  ].join(' and ');
}

function once(act: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) act();
    isDone = true;
  };
}
