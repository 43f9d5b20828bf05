import type { OnWait } from '../../app/hosting-api.ts';
import { changePower, type PowerChange } from '../../app/servers/change-power.ts';
import type { ServerRef } from '../../app/servers/find-server.ts';
import type { PowerAction } from '../../domain/server.ts';
import { type Message, type MessageBlock, section, textMessage } from '../kit/blocks.ts';
import { codeLabel, codeTyped, count } from '../kit/text.ts';
import type { SlackRequest } from '../transport/request.ts';
import { sendWaiting } from '../transport/waiting.ts';
import { unconfirmedMessage } from './power-words.ts';
import { severalList, severalWords } from './several-words.ts';
import { VERBS } from './verbs.ts';

/** What became of the servers of one command. */
interface Outcomes {
  readonly done: PowerChange[];
  /** What the user is told alone. */
  readonly others: MessageBlock[];
}

/** One after the other, even if one fails. Reported together, since Slack accepts only five replies to a command. */
export async function runSeveral(
  action: PowerAction,
  refs: readonly ServerRef[],
  request: SlackRequest,
): Promise<void> {
  const outcomes = await actOnEach(action, refs, request);
  const announced = await announceDone(action, outcomes, request);
  if (!announced || outcomes.others.length > 0)
    await request.reply.send(reportMessage(action, outcomes, refs.length, announced));
}

async function actOnEach(
  action: PowerAction,
  refs: readonly ServerRef[],
  request: SlackRequest,
): Promise<Outcomes> {
  const onWait = once(sendWaiting(request));
  const outcomes: Outcomes = { done: [], others: [] };
  for (const [place, ref] of refs.entries()) {
    // The same signed request acts once on each server that it names.
    const subrequest = request.subrequest(place);
    try {
      const change = await subrequest.execute(changePower[action], {
        ...{ ref, onWait },
        among: { actId: actOf(outcomes.done) },
      });
      if (change.isUnconfirmed) outcomes.others.push(...unconfirmedMessage(action, change).blocks);
      else outcomes.done.push(change);
    } catch (error) {
      outcomes.others.push(section(`${nameOf(ref)}: ${subrequest.explain(error)}`));
    }
  }
  return outcomes;
}

function nameOf(ref: ServerRef): string {
  return 'id' in ref ? codeLabel(String(ref.id)) : codeTyped(ref.typed);
}

/** Announces in the channel what was done; false where nothing was, or could be. The background tells how it ends. */
async function announceDone(
  action: PowerAction,
  { done }: Outcomes,
  request: SlackRequest,
): Promise<boolean> {
  if (done.length === 0) return false;
  const announced = await request.announce(severalWords(action, done, 'is'), ...severalList(action, done));
  const actId = actOf(done);
  if (actId !== undefined) await request.placeAct(actId, announced);
  return announced !== undefined;
}

/** One act on several servers has one message. */
function actOf(done: readonly PowerChange[]): string | undefined {
  return done.find(({ actId }) => actId !== undefined)?.actId;
}

/** What the user is told alone, including what could not be announced. */
function reportMessage(
  action: PowerAction,
  { done, others }: Outcomes,
  total: number,
  announced: boolean,
): Message {
  const words =
    done.length > 0 && !announced
      ? `You ${severalWords(action, done, 'are')}.`
      : `*${VERBS[action].title}* was accepted for ${done.length} of ${count(total, 'server')}.`;
  return textMessage(words, ...others);
}

function once(act: OnWait): OnWait {
  let isDone = false;
  return (wait) => {
    if (!isDone) act(wait);
    isDone = true;
  };
}
