import type { Caller, UseCaseSpec } from '../../app/authorize/use-case.ts';
import { withTimeout } from '../../app/with-timeout.ts';
import { strongestRole } from '../../domain/access.ts';
import type { Thread } from '../../domain/thread.ts';
import { DAY_MS, MINUTE_MS } from '../../domain/time.ts';
import { announce } from './announce.ts';
import { explainError } from './explain-error.ts';
import { withPlainView } from './fallback.ts';
import { whyNotOpened } from './not-opened.ts';
import { createPartNote } from './part-note.ts';
import type { Announcement, Reply, SlackRequest, Views } from './request.ts';
import type { RequestParts, Ways } from './request-parts.ts';

/** Makes what a command, a button or a modal is handled with. */
export async function createRequest(
  parts: RequestParts,
  caller: Caller,
  reply: Reply,
  triggerId: string | undefined,
  thread?: Thread,
): Promise<SlackRequest> {
  const currency = await parts.currencyOf(caller.actor.workspaceId);
  return makeRequest({ ...parts, currency }, caller, { reply, triggerId, thread });
}

function makeRequest(
  parts: RequestParts & { readonly currency: string },
  caller: Caller,
  ways: Ways,
  onBegin: () => void = () => undefined,
  note = createPartNote(),
): SlackRequest {
  const { entry, system } = parts;
  let hasBegun = false;
  const begin = () => {
    hasBegun = true;
    onBegin();
  };
  const onChange = async () => begin();
  return {
    caller,
    // Home itself says it.
    reply: caller.surface === 'home' ? ways.reply : note.inReply(ways.reply),
    views: note.inViews(createViews(parts, caller, ways)),
    note,
    currency: parts.currency,
    accountUrl: parts.accountUrl,
    publicUrl: parts.publicUrl,
    execute: async (useCase, input) => {
      if (mayHaveBegun(useCase)) begin();
      const output = await entry.execute(useCase, input, { ...heard(caller, note), onChange });
      if (useCase.effect !== 'reads') parts.touchHome(caller.actor.workspaceId, caller.actor.userId);
      return output;
    },
    authorize: (useCase) => {
      if (mayHaveBegun(useCase)) begin();
      return entry.authorize(useCase, caller);
    },
    findRole: async () => strongestRole(await entry.findRoles(caller.actor)),
    explain: (error) => explainError(error, { ...parts, hasBegun }),
    subrequest: (place) => makeRequest(parts, numbered(caller, place), ways, begin, note),
    announce: (action, ...more) => announce({ action, more }, parts, caller, ways),
    placeAct: (actId, announced) => placeAct(actId, announced, parts, caller, ways),
    now: () => system.now(),
    withTimeout: (work) => withTimeout(work, system),
  };
}

function heard(caller: Caller, note: ReturnType<typeof createPartNote>): Caller {
  const onPartOfList = () => {
    caller.onPartOfList?.();
    note.hear();
  };
  return { ...caller, onPartOfList };
}

/** An action that is done once for each form may be under way from an earlier press, even if this press fails. */
function mayHaveBegun({ effect, isOncePerForm = false }: UseCaseSpec): boolean {
  return effect === 'confirms' || isOncePerForm;
}

/** Until then, the request itself reports the outcome. */
const FIRST_LOOK_MS = 2000;

async function placeAct(
  actId: string,
  announced: Announcement | 'told' | undefined,
  { followedActs, replyUrls, system }: RequestParts,
  { actor: { workspaceId } }: Caller,
  { reply, thread }: Ways,
): Promise<void> {
  if (announced === 'told') return followedActs.forget(actId);
  const message = announced?.message;
  const now = system.now();
  if (reply.url) await replyUrls.store(actId, workspaceId, reply.url, now + REPLY_URL_MS);
  await followedActs.place(actId, { message, thread }, { now, dueAt: now + FIRST_LOOK_MS });
}

function numbered(caller: Caller, place: number): Caller {
  const { requestId } = caller;
  return requestId === undefined ? caller : { ...caller, requestId: `${requestId}#${place}` };
}

const REPLY_URL_MS = 30 * MINUTE_MS;
/** Longer than an order can wait for its approval and then for its outcome. */
const THREAD_MS = 60 * DAY_MS;

function createViews(
  { clients, followedViews, acknowledgedViews, replyUrls, outcomeThreads, system }: RequestParts,
  { actor: { workspaceId, channelId }, surface }: Caller,
  { reply, triggerId, thread }: Ways,
): Views {
  return {
    open: async (view) => {
      if (triggerId === undefined) return { ok: false, why: 'no_trigger' };
      const slack = clients.of(workspaceId);
      const opened = await withPlainView(view, (shown) => slack.openView(triggerId, shown));
      return opened.ok ? opened : { ok: false, why: whyNotOpened(opened.error) };
    },
    update: (viewId, view) =>
      acknowledgedViews.update(viewId, () =>
        withPlainView(view, (shown) => clients.of(workspaceId).updateView(viewId, shown)),
      ),
    // The reply path stays with us, sealed; the modal carries only its ID.
    storeOrigin: async (formId = system.newId()) => {
      if (reply.url) await replyUrls.store(formId, workspaceId, reply.url, system.now() + REPLY_URL_MS);
      if (thread) await outcomeThreads.store(formId, workspaceId, thread, system.now() + THREAD_MS);
      const isHome = surface === 'home' ? (true as const) : undefined;
      return { formId, channelId, thread, isHome };
    },
    follow: (id, viewId) => followedViews.set(id, viewId),
  };
}
