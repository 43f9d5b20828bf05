import { AUDIT_ACTIONS, type AuditAction } from '../../domain/audit-action.ts';
import { DAY_MS, MINUTE_MS } from '../../domain/time.ts';
import { textMessage } from '../kit/blocks.ts';
import { splitSubcommand } from '../kit/typed-words.ts';
import { describeRefusal, isRefused } from './admission.ts';
import { explainError } from './explain-error.ts';
import { sendError } from './failures.ts';
import { type HomeOpened, readHomeOpened } from './home-opened.ts';
import { NO_REPLY, replyDirectly, replyToMention } from './reply-paths.ts';
import type { Reply, SlackRequest } from './request.ts';
import { createRequest } from './request-factory.ts';
import { namedId } from './request-id.ts';
import { readRevocation } from './revocations.ts';
import { callerOf, type Delivery, type Routing } from './routing.ts';
import { readTypedMessage, type TypedMessage } from './typed-message.ts';
import { isSilent, WORKING, watchCommand } from './visible.ts';

/** Routes an event by its type. Slack's library has acknowledged it already; one that is none of ours is ignored. */
export async function dispatchEvent(body: unknown, delivery: Delivery, routing: Routing): Promise<void> {
  const revocation = readRevocation(body);
  if (revocation) return routing.onRevocation?.(revocation);
  const opened = readHomeOpened(body);
  if (opened) return openHome(opened, delivery, routing);
  const message = readTypedMessage(body);
  if (message) await dispatchMessage(message, delivery, routing);
}

/** No message says why there is no Home: the event is no question. */
async function openHome({ place, actor }: HomeOpened, delivery: Delivery, routing: Routing): Promise<void> {
  if ((await describeRefusal(place, routing, undefined)) !== undefined) return;
  const caller = callerOf(actor, 'home', undefined, delivery);
  await routing.home.open(await createRequest(routing, caller, NO_REPLY, undefined));
}

/** A command that Slack delivers this late may have been given up, or done by someone else. */
const LATE_MS = 2 * MINUTE_MS;

/** A mention, or a direct message: the same commands as `/vps`, without a trigger for forms. */
async function dispatchMessage(message: TypedMessage, delivery: Delivery, routing: Routing): Promise<void> {
  const { kind } = message;
  const reply = kind === 'mention' ? replyToMention(message, routing) : replyDirectly(message, routing);
  const isNew = await isFirst(message, routing).catch(async (error: unknown) => {
    // A repeated event may have been carried out when it was delivered first.
    const hasBegun = delivery.isRepeated === true;
    await reply.send(textMessage(explainError(error, { ...routing, currency: '', hasBegun })));
    return false;
  });
  if (isNew) await answerMessage(message, reply, delivery, routing);
}

async function answerMessage(
  message: TypedMessage,
  reply: Reply,
  delivery: Delivery,
  routing: Routing,
): Promise<void> {
  const { actor, place, text, thread } = message;
  if (await isRefused(place, reply, routing, { hasBegun: false })) return;
  const caller = callerOf(actor, message.kind, idOf(message), delivery);
  const request = await createRequest(routing, caller, reply, undefined, thread);
  const lateMs = routing.connections.clock.now() - message.sentAt;
  const answer = async (seen: SlackRequest): Promise<void> => {
    await refuseOutsider(message, seen);
    if (text === undefined) await seen.reply.send(textMessage(BEGIN_WITH_IT));
    else if (lateMs > LATE_MS) await seen.reply.send(textMessage(lateWords(lateMs)));
    else await routing.runCommand(text, seen);
    await seen.note.sayUnsaid(seen.reply);
  };
  await showing(request, routing, (seen) =>
    answer(seen).catch((error: unknown) => sendError(error, seen, routing.nextSteps(error, text))),
  );
}

/**
 * Slack delivers an event again when it has not seen the acknowledgment, for up to a day. Both IDs are kept as long: an
 * edited message is another event, and so is the same message for another subscription. False for one that was received.
 */
async function isFirst(message: TypedMessage, { seenRequests, system }: Routing): Promise<boolean> {
  const { eventId, actor, ts } = message;
  // Slack's event names no workspace, so the command is refused later.
  if (idOf(message) === undefined) return true;
  const ids = [
    namedId('event', actor.workspaceId, eventId),
    namedId('message', actor.workspaceId, actor.channelId, ts),
  ].filter((each) => each !== undefined);
  return seenRequests.addAll(ids, system.now() + DAY_MS);
}

/** The same however often Slack delivers it. */
function idOf({ actor: { workspaceId, userId, channelId }, ts }: TypedMessage): string | undefined {
  return namedId('typed', workspaceId, userId, channelId, ts);
}

/** The command that it names; undefined if that isn't audited under its name. */
function nameIn({ text = '' }: TypedMessage): AuditAction | undefined {
  const { name: typed } = splitSubcommand(text);
  return AUDIT_ACTIONS.find((action) => action === typed);
}

/** Commands that need no role, such as help, are not for users of other organizations either. @throws Refusal */
async function refuseOutsider(message: TypedMessage, request: SlackRequest): Promise<void> {
  const { homeTeamId, workspaceId } = message.actor;
  if (homeTeamId === undefined || homeTeamId === workspaceId) return;
  const name = nameIn(message) ?? 'panel';
  await request.authorize({ name, needs: 'anyone', effect: 'reads' });
}

/** Says that it is being worked on, where the user sees nothing for too long. */
async function showing(
  request: SlackRequest,
  { system }: Routing,
  work: (request: SlackRequest) => Promise<void>,
): Promise<void> {
  let onVisible: () => void = () => undefined;
  const visible = new Promise<void>((resolve) => {
    onVisible = resolve;
  });
  const seen = watchCommand(request.reply, onVisible, Promise.resolve(false));
  const working = work(seen.watch({ ...request, reply: seen.reply }));
  if (await isSilent(working, visible, system)) await sayWorking(request.reply);
  await working;
}

async function sayWorking(reply: Reply): Promise<void> {
  await reply.send(textMessage(WORKING));
}

const BEGIN_WITH_IT =
  'To run a command, begin your message with the mention, as in `@vps list`. Nothing was done.';

function lateWords(lateMs: number): string {
  const minutes = Math.round(lateMs / MINUTE_MS);
  return `Slack delivered your message ${minutes} min late, so nothing was done. Send it again if you still want this.`;
}
