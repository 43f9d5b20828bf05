import type { OnWait } from '../../app/hosting-api.ts';
import { changePower, type PowerChange } from '../../app/servers/change-power.ts';
import type { PowerConfirmation } from '../../app/servers/confirmed-power.ts';
import type { ServerRef } from '../../app/servers/find-server.ts';
import { isRefusal } from '../../domain/errors.ts';
import type { PowerAction, Server } from '../../domain/server.ts';
import { type Message, type MessageBlock, section, textMessage } from '../kit/blocks.ts';
import { codeLabel, codeTyped, count } from '../kit/text.ts';
import type { SlackRequest } from '../transport/request.ts';
import { sendWaiting } from '../transport/waiting.ts';
import { findRetriable } from './next-steps.ts';
import { unconfirmedMessage } from './power-words.ts';
import { askBlock, retryBlock, severalList, severalWords } from './several-words.ts';
import { VERBS } from './verbs.ts';

/** What became of the servers of one command. */
interface Outcomes {
  readonly done: PowerChange[];
  /** What only the user sees. */
  readonly others: MessageBlock[];
  /** The user has to say again that these are meant. */
  readonly unsure: Server[];
  /** It is proven that nothing was done to them, and it may work a moment later. */
  readonly failed: Pick<Server, 'id' | 'label'>[];
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
    await request.reply.send(reportMessage(action, outcomes, refs.length, announced, request));
}

/**
 * The same for a list that the user has read, in place of that list.
 * @throws Refusal `confirmation_expired`, `already_handled`
 */
export async function runConfirmed(
  action: PowerAction,
  confirmed: PowerConfirmation,
  refs: readonly ServerRef[],
  request: SlackRequest,
): Promise<void> {
  await request.authorize(changePower[action]);
  // Only the press that is the first to act takes the button away; what it reports must stay.
  const words = `${capital(VERBS[action].present)} ${count(refs.length, 'server')}…`;
  const outcomes = await actOnEach(action, refs, request, confirmed, () =>
    request.reply.edit(textMessage(words)),
  );
  const announced = await announceDone(action, outcomes, request);
  await request.reply.replace(reportMessage(action, outcomes, refs.length, announced, request));
}

async function actOnEach(
  action: PowerAction,
  refs: readonly ServerRef[],
  request: SlackRequest,
  confirmed?: PowerConfirmation,
  onTaken?: () => Promise<unknown>,
): Promise<Outcomes> {
  const onWait = once(sendWaiting(request));
  const outcomes: Outcomes = { done: [], others: [], unsure: [], failed: [] };
  for (const [place, ref] of refs.entries()) {
    // The same signed request acts once on each server that it names.
    const subrequest = request.subrequest(place);
    try {
      const change = await subrequest.execute(changePower[action], {
        ...{ ref, onWait, confirmed },
        among: { actId: actOf(outcomes.done) },
      });
      if (change.isUnconfirmed) outcomes.others.push(...unconfirmedMessage(action, change).blocks);
      else outcomes.done.push(change);
    } catch (error) {
      // True of all of them: it has expired, or another press or delivery acts on them, and reports.
      const isOver = isRefusal(error, 'confirmation_expired') || isRefusal(error, 'already_handled');
      if (isOver && place === 0) throw error;
      if (isRefusal(error, 'prefix_only') || isRefusal(error, 'rebooted_recently'))
        outcomes.unsure.push(error.details.server);
      const failed = findRetriable(error);
      if (failed) outcomes.failed.push({ ...failed, label: labelOf(ref) ?? failed.label });
      outcomes.others.push(section(`${nameOf(ref)}: ${subrequest.explain(error)}`));
    }
    if (place === 0) await onTaken?.();
  }
  return outcomes;
}

function nameOf(ref: ServerRef): string {
  return 'id' in ref ? codeLabel(ref.label ?? String(ref.id)) : codeTyped(ref.typed);
}

/** As the user has read it: where the list of servers could not be read, the failure knows only the ID. */
function labelOf(ref: ServerRef): string | undefined {
  return 'id' in ref ? ref.label : undefined;
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

/** What only the user sees, including what couldn't be announced. */
function reportMessage(
  action: PowerAction,
  { done, others, unsure, failed }: Outcomes,
  total: number,
  announced: boolean,
  request: SlackRequest,
): Message {
  const words =
    done.length > 0 && !announced
      ? `You ${severalWords(action, done, 'are')}.`
      : `*${VERBS[action].title}* was accepted for ${done.length} of ${count(total, 'server')}.`;
  const at = request.now();
  const confirmation = { id: `${request.caller.actor.userId}-${at}`, at };
  return textMessage(
    words,
    ...others,
    ...(unsure.length > 0 ? [askBlock(action, confirmation, unsure)] : []),
    ...(failed.length > 0 ? [retryBlock(action, confirmation, failed)] : []),
  );
}

function capital(word: string): string {
  return `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`;
}

function once(act: OnWait): OnWait {
  let isDone = false;
  return (wait) => {
    if (!isDone) act(wait);
    isDone = true;
  };
}
