import type { KnownBlock } from '@slack/types';
import { isExpected, isRefusal, type Refusal } from '../core/errors.ts';
import { freezeBriefly } from '../core/labels.ts';
import type { NamedServer, PowerAction, Server } from '../core/server.ts';
import {
  actions,
  context,
  type Message,
  type MessageBlock,
  section,
  sectionsOf,
  textMessage,
} from '../slack/kit/blocks.ts';
import { sendWaiting } from '../slack/kit/notify.ts';
import { capital, codeLabel, codeTyped, count, mention, plainLabel, stateWords } from '../slack/kit/text.ts';
import type { SlackRequest } from '../slack/request.ts';
import { rebootedWords, VERBS } from '../words.ts';
import { confirmPower, severalButton } from './buttons.ts';
import { changePower, type PowerChange, type PowerConfirmation } from './change-power.ts';
import type { ServerRef } from './find.ts';
import type { FollowedServer } from './follow.ts';
import { serverLines, severalActWords, severalAnswer, unconfirmedMessage } from './follow-words.ts';
import type { LeftOutServer, SelectedServer, SelectedServers } from './select.ts';
import { findRetriable } from './words.ts';

interface Outcomes {
  readonly done: PowerChange[];
  /** Blocks that only the user sees. */
  readonly others: MessageBlock[];
  /** Servers that the user has to confirm. */
  readonly unsure: Server[];
  /** Servers to which nothing was done, with proof, and for which the action may work a moment later. */
  readonly failed: NamedServer[];
  /** For how many servers nothing proves whether the action was carried out. */
  unproven: number;
}

/**
 * Acts on servers one after the other, even if one fails. Reports together, since Slack takes only five replies to a command.
 * `unmatched`: why other typed words mean no server.
 */
export async function runSeveral(
  action: PowerAction,
  refs: readonly ServerRef[],
  request: SlackRequest,
  unmatched: readonly Refusal[] = [],
): Promise<void> {
  const outcomes = await actOnEach(action, refs, request);
  outcomes.others.push(...unmatched.map((refusal) => section(request.explain(refusal))));
  const announced = await announceDone(action, outcomes, request);
  if (!announced || outcomes.others.length > 0)
    await request.reply.send(reportMessage(action, outcomes, refs.length, announced, request));
}

/**
 * Acts on the servers of a confirmed list, and replaces the list with the report.
 * @throws Refusal `confirmation_expired`, `already_handled`
 */
export async function runConfirmed(
  action: PowerAction,
  confirmed: PowerConfirmation,
  refs: readonly ServerRef[],
  request: SlackRequest,
): Promise<void> {
  await request.authorize(changePower[action]);
  // Only the press that acts first removes the button, so that a later press doesn't overwrite its report.
  const [only] = refs;
  const which = only && refs.length === 1 ? nameOf(only) : count(refs.length, 'server');
  const words = `${capital(VERBS[action].present)} ${which}…`;
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
  const onWait = sendWaiting(request);
  const outcomes: Outcomes = { done: [], others: [], unsure: [], failed: [], unproven: 0 };
  for (const [place, ref] of refs.entries()) {
    // The same signed request acts once on each server that it names.
    const subrequest = request.subrequest(place);
    try {
      const change = await subrequest.execute(changePower[action], {
        ref,
        onWait,
        confirmed,
        batch: { actId: actOf(outcomes.done) },
      });
      if (!change.isUnconfirmed) outcomes.done.push(change);
      else {
        outcomes.unproven += 1;
        outcomes.others.push(...unconfirmedMessage(action, change).blocks);
      }
    } catch (error) {
      // Applies to all servers: the list has expired, or another press or delivery acts on them and reports.
      const isOver = isRefusal(error, 'confirmation_expired') || isRefusal(error, 'already_handled');
      if (isOver && place === 0) throw error;
      if (isRefusal(error, 'prefix_only') || isRefusal(error, 'rebooted_recently'))
        outcomes.unsure.push(error.details.server);
      if (!isExpected(error)) outcomes.unproven += 1;
      const failed = findRetriable(error);
      // A failure knows only the ID if the list of servers could not be read: the user has read the label.
      const label = 'id' in ref ? ref.label : undefined;
      if (failed) outcomes.failed.push({ ...failed, label: label ?? failed.label });
      const words = subrequest.explain(error);
      outcomes.others.push(section(words.includes(nameOf(ref)) ? words : `${nameOf(ref)}: ${words}`));
    }
    if (place === 0) await onTaken?.();
  }
  return outcomes;
}

function nameOf(ref: ServerRef): string {
  return 'id' in ref ? codeLabel(ref.label ?? String(ref.id)) : codeTyped(ref.typed);
}

/** Announces accepted actions in the channel; false if nothing was announced. The background reports how they end. */
async function announceDone(
  action: PowerAction,
  { done }: Outcomes,
  request: SlackRequest,
): Promise<boolean> {
  if (done.length === 0) return false;
  const servers = done.map(toServer);
  const list = servers.length > 1 ? serverLines(servers, { action, isMeasured: true }) : [];
  const announced = await request.announce(severalActWords(servers, action), ...list);
  const actId = actOf(done);
  if (actId !== undefined) await request.placeAct(actId, announced);
  return announced !== undefined;
}

/** The act that the servers of a command share, since they have one message. */
function actOf(done: readonly PowerChange[]): string | undefined {
  return done.find(({ actId }) => actId !== undefined)?.actId;
}

/** Renders what only the user sees, including what couldn't be announced. */
function reportMessage(
  action: PowerAction,
  { done, others, unsure, failed, unproven }: Outcomes,
  total: number,
  announced: boolean,
  request: SlackRequest,
): Message {
  const { past, present } = VERBS[action];
  const words =
    done.length > 0 && !announced
      ? severalAnswer(done.map(toServer), action)
      : done.length > 0
        ? `${capital(present)} ${done.length} of ${count(total, 'server')}.`
        : unproven > 0
          ? `We’re not sure about ${unproven} of ${count(total, 'server')}.`
          : `Nothing was ${past}.`;
  const at = request.now();
  const confirmation = { id: `${request.caller.actor.userId}-${at}`, at };
  return textMessage(
    words,
    ...others,
    ...(unsure.length > 0 ? [askBlock(action, confirmation, unsure)] : []),
    ...(failed.length > 0 ? [retryBlock(action, confirmation, failed)] : []),
  );
}

/** A section takes 3,000 characters, and each of a label's 40 may be five when it is escaped. */
const IN_A_SECTION = 10;
const LEFT_OUT_SHOWN = 10;

/** Renders the list that typed words match, with the button that confirms it. `explain` puts the refusals into words. */
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
  const [only, ...more] = servers;
  const which = only && more.length === 0 ? codeLabel(only.label, 40) : `these ${servers.length} servers`;
  return textMessage(
    `${title} ${which}?`,
    ...listBlocks(chosen),
    ...others,
    askBlock(action, confirmation, servers),
    context(
      'Nothing has changed yet. The button affects only the servers in this list and works for 10 minutes.',
    ),
  );
}

function askBlock(
  action: PowerAction,
  { id, at }: PowerConfirmation,
  servers: readonly Server[],
): KnownBlock {
  const style = action === 'start' ? ('primary' as const) : ('danger' as const);
  const text = `${VERBS[action].title} ${whichOf(servers)}`;
  return actions(severalButton[action].element(text, { id, at, servers: freeze(servers) }, { style }));
}

/** Renders the button that tries again on servers where nothing was done, with proof. It asks before. */
function retryBlock(
  action: PowerAction,
  { id, at }: PowerConfirmation,
  failed: readonly NamedServer[],
): KnownBlock {
  const which = whichOf(failed);
  const confirm = confirmPower(action, failed);
  return actions(
    severalButton[action].element(`Try again for ${which}`, { id, at, servers: freeze(failed) }, { confirm }),
  );
}

/** "web-1", or "3 servers". */
function whichOf(servers: readonly NamedServer[]): string {
  const [only, ...others] = servers;
  return only && others.length === 0 ? plainLabel(only.label, 40) : count(servers.length, 'server');
}

function freeze(servers: readonly NamedServer[]): [number, string][] {
  return servers.map(({ id, label }) => [id, freezeBriefly(label)]);
}

function listBlocks(chosen: readonly SelectedServer[]): KnownBlock[] {
  const lines = chosen.map(({ server, reboot }) => {
    const line = `${codeLabel(server.label, 40)} ${stateWords(server)}`;
    return reboot ? `${line}, ${rebootedWords(reboot)}` : line;
  });
  return sectionsOf(lines, IN_A_SECTION);
}

function leftOutWords(past: string, leftOut: readonly LeftOutServer[]): string {
  const named = leftOut.slice(0, LEFT_OUT_SHOWN).map(({ server, protectedBy }) => {
    const why = protectedBy === undefined ? stateWords(server) : `protected by ${mention(protectedBy)}`;
    return `${codeLabel(server.label, 40)} (${why})`;
  });
  const more = leftOut.length - named.length;
  return `Won’t be ${past}: ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function toServer({ server: { id, label }, state }: PowerChange): FollowedServer {
  return { serverId: id, label, standing: 'waiting', hasChanged: false, state };
}
