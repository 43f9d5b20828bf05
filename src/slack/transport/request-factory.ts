import type { CurrencyOf } from '../../app/account/currency.ts';
import type { Entry } from '../../app/authorize/entry.ts';
import type { ReplyUrls } from '../../app/authorize/ports.ts';
import type { Caller } from '../../app/authorize/use-case.ts';
import type { AppPorts } from '../../app/ports.ts';
import { withTimeout } from '../../app/with-timeout.ts';
import { strongestRole } from '../../domain/access.ts';
import { omitUndefined } from '../../domain/omit-undefined.ts';
import { MINUTE_MS } from '../../domain/time.ts';
import type { Log } from '../../log.ts';
import type { System } from '../../system.ts';
import { textMessage } from '../kit/blocks.ts';
import { mention } from '../kit/text.ts';
import type { AcknowledgedViews } from './acknowledged-views.ts';
import type { AdmissionParts } from './admission.ts';
import type { MayAnnounce } from './announcements.ts';
import { explainError } from './explain-error.ts';
import { withPlainView } from './fallback.ts';
import type { FollowedViews } from './followed-views.ts';
import type { Announcement, Reply, SlackRequest, Views } from './request.ts';
import type { SlackClients } from './slack-clients.ts';

/** What requests are made from. */
export interface RequestParts extends AdmissionParts {
  readonly entry: Entry<AppPorts>;
  readonly clients: SlackClients;
  readonly replyUrls: ReplyUrls;
  readonly followedViews: FollowedViews;
  readonly acknowledgedViews: AcknowledgedViews;
  readonly mayAnnounce: MayAnnounce;
  readonly system: System;
  readonly log: Log;
  readonly currencyOf: CurrencyOf;
  readonly accountUrl: string | undefined;
}

/** Makes what a command, a button or a modal is handled with. */
export async function createRequest(
  parts: RequestParts,
  caller: Caller,
  reply: Reply,
  triggerId: string | undefined,
): Promise<SlackRequest> {
  const currency = await parts.currencyOf(caller.actor.workspaceId);
  return makeRequest({ ...parts, currency }, caller, reply, triggerId);
}

function makeRequest(
  parts: RequestParts & { readonly currency: string },
  caller: Caller,
  reply: Reply,
  triggerId: string | undefined,
): SlackRequest {
  const { entry, system } = parts;
  return {
    caller,
    reply,
    views: createViews(parts, caller, reply, triggerId),
    currency: parts.currency,
    accountUrl: parts.accountUrl,
    publicUrl: parts.publicUrl,
    execute: (useCase, input) => entry.execute(useCase, input, caller),
    authorize: (useCase) => entry.authorize(useCase, caller),
    findRole: async () => strongestRole(await entry.findRoles(caller.actor)),
    explain: (error) => explainError(error, parts),
    subrequest: (place) => makeRequest(parts, numbered(caller, place), reply, triggerId),
    announce: (action) => announce(action, parts, caller, reply),
    now: () => system.now(),
    withTimeout: (work) => withTimeout(work, system),
  };
}

function numbered(caller: Caller, place: number): Caller {
  const { requestId } = caller;
  return requestId === undefined ? caller : { ...caller, requestId: `${requestId}#${place}` };
}

/** As a message of the bot's, which can be edited; where the bot is no member, through the reply path, where it can't. */
async function announce(
  action: string,
  { mayAnnounce, clients }: RequestParts,
  { actor }: Caller,
  reply: Reply,
): Promise<Announcement | undefined> {
  const { workspaceId, channelId, userId } = actor;
  if (channelId === undefined || !(await mayAnnounce(workspaceId, channelId))) return undefined;
  const messageOf = (words: string) => textMessage(`${mention(userId)} ${words}`);
  const slack = clients.of(workspaceId);
  const posted = await slack.post(channelId, messageOf(action));
  if (posted.ok)
    return {
      // Another organization may have been invited to the channel since.
      edit: async (later) =>
        (await mayAnnounce(workspaceId, channelId)) &&
        (await slack.updateMessage(posted, messageOf(later))).ok,
    };
  return (await reply.announce(messageOf(action))) ? { edit: async () => false } : undefined;
}

/** A trigger lives for 3 s and works once; any other error is about the view itself. */
const EXPIRED = ['expired_trigger_id', 'exchanged_trigger_id', 'trigger_expired'];

const REPLY_URL_MS = 30 * MINUTE_MS;

function createViews(
  { clients, followedViews, acknowledgedViews, replyUrls, system }: RequestParts,
  { actor: { workspaceId, channelId } }: Caller,
  reply: Reply,
  triggerId: string | undefined,
): Views {
  return {
    open: async (view) => {
      if (triggerId === undefined) return { ok: false, isTooLate: true };
      const slack = clients.of(workspaceId);
      const opened = await withPlainView(view, (shown) => slack.openView(triggerId, shown));
      return opened.ok ? opened : { ok: false, isTooLate: EXPIRED.includes(opened.error) };
    },
    update: (viewId, view) =>
      acknowledgedViews.update(viewId, () =>
        withPlainView(view, (shown) => clients.of(workspaceId).updateView(viewId, shown)),
      ),
    // The reply path stays with us, sealed; the modal carries only its ID.
    storeOrigin: async (formId = system.newId()) => {
      if (reply.url) await replyUrls.store(formId, workspaceId, reply.url, system.now() + REPLY_URL_MS);
      return { formId, ...omitUndefined({ channelId }) };
    },
    follow: (id, viewId) => followedViews.set(id, viewId),
  };
}
