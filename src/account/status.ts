import { defineUseCase, type UseCaseContext } from '../core/entry.ts';
import { isExpected, isRefusal } from '../core/errors.ts';
import { findRoles } from '../core/permission.ts';
import { coversRole } from '../core/roles.ts';
import type { PurchaseFreeze } from '../core/settings.ts';
import { decideModals, decisionActions } from '../purchases/decide.ts';
import { labelOf, type Operation, type OperationState } from '../purchases/operation.ts';
import { decideButton } from '../purchases/outcomes.ts';
import {
  type ApprovalReader,
  approvalActions,
  approvalModals,
  waitingBlocks,
} from '../requests/approval-card.ts';
import { APPROVALS, type Approval, labelOfAction } from '../requests/request.ts';
import { actions, facts, type Message, section } from '../slack/kit/blocks.ts';
import { defineCommand, parseNothing } from '../slack/kit/command.ts';
import { codeLabel, count, mention, plainLabel, slackDate } from '../slack/kit/text.ts';
import { isTokenRefused, MESSAGES_TAB, SCOPES, type SetupProblem } from '../slack/refusals.ts';
import { frozenWords, wordsOfError } from '../words.ts';
import { connectStep } from './connect.ts';

type ApiStatus = Awaited<ReturnType<typeof tryApi>>;

interface Status {
  readonly api: ApiStatus;
  /** Confirmed orders without an outcome yet, unconfirmed ones included, for servers that the reader's role covers. */
  readonly open: readonly Operation[];
  /** Approvals that wait for a second person, oldest first. */
  readonly waiting: readonly { readonly approval: Approval; readonly reader: ApprovalReader }[];
  /** Root passwords of the workspace that nobody has saved. */
  readonly passwordsHeld: number;
  readonly freeze?: PurchaseFreeze;
  readonly slack: SlackStatus;
}

/**
 * Reads the state of the API, its key and limit (by a list that was read within the last seconds, as for every command), of orders
 * and approvals, and what Slack refused in the last hour.
 */
export const readStatus = defineUseCase({
  name: 'status',
  needs: 'viewer',
  effect: 'reads',
  run: async (_input: Record<never, never>, context): Promise<Status> => {
    const { app } = context;
    const { workspaceId } = context.actor;
    const [{ freeze }, all, held, waiting, api, slack] = await Promise.all([
      app.workspaces.readSettings(workspaceId),
      app.ledger.listOpen(workspaceId),
      app.passwords.listHeld(workspaceId),
      listWaiting(context),
      tryApi(context),
      readSlack(context),
    ]);
    const open = all.filter(({ purchase }) => context.covers(labelOf(purchase)));
    return { api, open, passwordsHeld: held.length, waiting, slack, freeze };
  },
});

/** What Slack refused; asks Slack nothing. */
async function readSlack({ actor: { workspaceId }, app }: UseCaseContext) {
  const needsInstall = (await app.installations.needsInstall?.(workspaceId)) ?? false;
  return { problems: app.setupProblems.read(workspaceId), needsInstall };
}
export type SlackStatus = Awaited<ReturnType<typeof readSlack>>;

/** Whether the hosting API answers and accepts the workspace's key. */
async function tryApi({ hosting: open }: UseCaseContext) {
  try {
    const hosting = await open();
    const { servers, extent, tookMs: answerMs = 0 } = await hosting.fetchServers();
    const isUsable = true as const;
    return { isUsable, servers: servers.length, extent, answerMs, budget: hosting.budget() };
  } catch (error) {
    if (!isExpected(error)) throw error;
    return { isUsable: false as const, error };
  }
}

async function listWaiting(context: UseCaseContext) {
  const { actor, app } = context;
  const open = await app.requests.listOpen(actor.workspaceId, APPROVALS, app.system.now());
  const waiting = open.filter((approval) => context.covers(labelOfAction(approval)));
  if (waiting.length === 0) return [];
  const roles = await findRoles(actor, app);
  const readerOf = (approval: Approval): ApprovalReader => {
    if (approval.requesterId === actor.userId) return 'requester';
    return coversRole(roles, 'manager', labelOfAction(approval)) ? 'decider' : 'other';
  };
  return waiting.map((approval) => ({ approval, reader: readerOf(approval) }));
}

export const status = defineCommand({
  name: 'status',
  usage: 'status',
  summary: 'Check what’s working and what’s waiting',
  needs: 'viewer',
  parse: parseNothing,
  run: async (_input, request) => {
    await request.reply.send(statusMessage(await request.execute(readStatus, {}), request.currency));
  },
  actions: [...decisionActions, ...approvalActions],
  modals: [...decideModals, ...approvalModals],
});

export function statusMessage(found: Status, currency: string): Message {
  const { api, freeze } = found;
  const canConnect =
    !api.isUsable && isRefusal(api.error, 'no_api_key') && api.error.details.isOwner === true;
  return {
    text: api.isUsable ? 'The hosting API is up.' : 'The hosting API isn’t available right now.',
    blocks: [
      section(describeApi(api, currency)),
      ...(freeze ? [section(frozenWords({ frozenBy: freeze.by, since: freeze.since }))] : []),
      ...(canConnect ? [actions(connectStep())] : []),
      facts([
        ...(api.isUsable ? [['API requests this minute', describeBudget(api)] as const] : []),
        ['Unconfirmed orders', describeOpen(found)],
        ['Unsaved root passwords', String(found.passwordsHeld)],
      ]),
      ...slackStatusBlocks(found.slack),
      ...decisions(found),
      ...approvals(found, currency),
    ],
  };
}

function describeApi(api: ApiStatus, currency: string): string {
  if (!api.isUsable) return wordsOfError(api.error, currency);
  const answers = `The hosting API is up and the key works (${api.answerMs} ms, ${count(api.servers, 'server')}).`;
  return api.extent === 'maybe_whole' ? `${answers} ${MAYBE_WHOLE}` : answers;
}

const MAYBE_WHOLE =
  'The list of servers contains something that we can’t interpret, so some servers may be missing from it.';

function describeBudget({ budget }: Extract<ApiStatus, { isUsable: true }>): string {
  const { taken, limit, waiting } = budget;
  return `${taken} of ${limit}${waiting > 0 ? `, ${count(waiting, 'request')} waiting` : ''}`;
}

const WAITING_MOST = 5;

function decisions({ open }: Status) {
  const waiting = open.filter(({ needsDecision }) => needsDecision).slice(0, WAITING_MOST);
  return waiting.map(({ id, purchase }) =>
    actions(decideButton.element(`Resolve ${plainLabel(labelOf(purchase), 40)}…`, { operationId: id })),
  );
}

/** Renders pending approvals, in case their cards were lost. */
function approvals(found: Status, currency: string) {
  const all = found.waiting;
  if (all.length === 0) return [];
  const shown = all.slice(0, WAITING_MOST);
  const rest = all.length > shown.length ? `, the oldest ${shown.length} of ${all.length}` : '';
  const each = shown.flatMap(({ approval, reader }) => waitingBlocks(approval, reader, currency));
  return [section(`*Waiting for approval*${rest}`), ...each];
}

const STATES: Readonly<Record<OperationState, string>> = {
  prepared: 'waiting to be sent',
  sent: 'sent, waiting for the answer',
  unconfirmed: 'not confirmed yet',
  settled: 'confirmed',
  refused: 'refused',
};

function describeOpen({ open }: Status): string {
  if (open.length === 0) return 'none';
  const lines = open.slice(0, 10).map((operation) => {
    const { state, needsDecision, purchase, actorId, createdAt } = operation;
    const order = `${codeLabel(labelOf(purchase), 40)} (${purchase.kind}, ${mention(actorId)})`;
    return `${order}: ${needsDecision ? 'a manager has to resolve it' : STATES[state]} (since ${slackDate(createdAt)})`;
  });
  const rest = open.length - lines.length;
  return [...lines, ...(rest > 0 ? [`and ${rest} more`] : [])].join('\n');
}

/** Says what Slack refuses, what is lost by that, and what fixes it; nothing if there is nothing to fix. */
function slackStatusBlocks({ problems, needsInstall }: SlackStatus) {
  const lines = new Set([...(needsInstall ? [NEEDS_INSTALL] : []), ...problems.flatMap(wordsOfProblem)]);
  if (lines.size === 0) return [];
  return [section(['*Slack*', ...[...lines].map((line) => `⚠️ ${line}`)].join('\n'))];
}

const NEEDS_INSTALL =
  'Slack won’t renew the app’s token, so the app will stop working within hours. Install it again from its `/slack/install` page.';

/** Says what to do about a problem, in the app's settings on api.slack.com. */
function wordsOfProblem({ method, error, scopes }: SetupProblem): readonly string[] {
  if (error === MESSAGES_TAB)
    return [
      'Slack refuses direct messages. Turn on the Messages tab under *App Home* in the app’s settings.',
    ];
  if (isTokenRefused(error))
    return [
      `Slack no longer accepts the bot token (\`${error}\`). Install the app again. If its token is set in \`SLACK_BOT_TOKEN\`, set the new one there and restart the app.`,
    ];
  if (scopes.length > 0)
    return scopes.map(
      (scope) => `The scope \`${scope}\` is missing, so ${SCOPES[scope].lost}. Add it and reinstall the app.`,
    );
  return [`Slack refuses \`${method}\` (\`${error}\`). Ask a workspace admin to allow it.`];
}
