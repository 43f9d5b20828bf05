import { isJson, readJson, textIn } from '../json.ts';
import { answerAccess, type IssuedToken, worldsOf } from '../oauth.ts';
import type { Json, Texts } from '../page-api.ts';
import { WebApiError } from '../refusal.ts';
import { findChannel } from '../workspace.ts';
import type { World, Worlds } from '../world.ts';
import { appMethods, connectionMethods, useRunToken } from './apps.ts';
import { chatMethods } from './chat.ts';
import { conversationMethods, userMethods } from './directory.ts';
import { required, type WebMethods } from './method.ts';
import { viewMethods } from './views.ts';

/** Answers one call of the Web API, as Slack does: 200 with ok false for all refusals but rate limits. */
export function answerWebCall(world: World, worlds: Worlds, call: WebCall): WebAnswer {
  const headers = { 'x-oauth-scopes': world.app.scopes.join(',') };
  try {
    const retryAfter = world.faults.takeRateLimit(call.method) ?? takeLimit(world, call);
    if (retryAfter !== undefined) {
      const body = { ok: false, error: 'ratelimited' };
      return { status: 429, headers: { 'retry-after': String(retryAfter) }, body };
    }
    return { status: 200, headers, body: { ok: true, ...run(world, worlds, call) } };
  } catch (error) {
    if (!(error instanceof WebApiError)) throw error;
    return { status: 200, headers, body: { ok: false, error: error.code, ...error.more } };
  }
}

interface WebCall {
  readonly method: string;
  readonly contentType: string;
  readonly authorization: string;
  readonly query: string;
  readonly body: string;
}

interface WebAnswer {
  readonly status: number;
  readonly headers: Texts;
  readonly body: Json;
}

const METHODS: WebMethods = {
  ...appMethods,
  ...chatMethods,
  ...connectionMethods,
  ...conversationMethods,
  ...userMethods,
  ...viewMethods,
};

/** A message to a user, and one in their conversation with the app, are in the same channel. */
function takeLimit(world: World, call: WebCall): number | undefined {
  const wanted = textIn(readArguments(call), 'channel');
  const channel = findChannel(world.channels, world.roster.findUser(wanted) ? 'dm' : wanted, wanted);
  return world.limits.take(call.method, channel?.id ?? wanted);
}

function run(world: World, worlds: Worlds, call: WebCall): Json {
  const args = readArguments(call);
  const isInstall = call.method === 'oauth.v2.access';
  const issued = isInstall ? undefined : checkToken(world, call, args);
  const method = Object.hasOwn(METHODS, call.method) ? METHODS[call.method] : undefined;
  if (method) checkScopes(world, call.method, method.scopes);
  const failure = world.faults.takeFailure(call.method);
  if (failure) throw new WebApiError(failure);
  if (isInstall) return answerAccess(worlds, args, call.authorization);
  if (method) return method.run(world, args, { worlds, token: tokenOf(call, args), issued });
  world.journal.breakRule('unknown_method', `the local Slack has no method ${call.method}`);
  throw new WebApiError('unknown_method', { req_method: call.method });
}

/** What was issued; nothing for the tokens that the local Slack was started with. */
function checkToken(world: World, call: WebCall, args: Json): IssuedToken | undefined {
  const isForApp = call.method in connectionMethods;
  // An app-level token is taken from the header alone (Slack's "Using Socket Mode" page).
  const token = tokenOf(call, isForApp ? {} : args);
  if (token === '') throw new WebApiError('not_authed');
  const { botToken, appToken } = world.app;
  if (token === (isForApp ? appToken : botToken)) return undefined;
  if (!isForApp && useRunToken(world, token)) return undefined;
  const issued = world.oauth.find(token);
  if (isForApp ? issued || token === botToken : token === appToken)
    throw new WebApiError('not_allowed_token_type');
  if (issued) {
    world.oauth.requireWorking(issued);
    requireTeam(world, call.method, issued, args);
    return issued;
  }
  world.journal.breakRule('invalid_auth', `${call.method}: this is not the app's token`);
  throw new WebApiError('invalid_auth');
}

function tokenOf(call: WebCall, args: Json): string {
  return call.authorization.replace(/^Bearer\s*/, '') || textIn(args, 'token');
}

/** These are about the token or the organization, and so need no workspace. */
const ORG_METHODS = ['auth.test', 'auth.revoke', 'auth.teams.list'];

/** A token of an organization has to say for which of its workspaces a call is. */
function requireTeam(world: World, method: string, issued: IssuedToken, args: Json): void {
  if (!issued.isOrg || ORG_METHODS.includes(method)) return;
  const wanted = required(args, 'team_id');
  const isAdded = wanted === world.team.id && world.grid?.id === issued.place && world.grid.isOrgInstall;
  if (!isAdded) throw new WebApiError('team_access_not_granted');
}

export function findWorld(worlds: Worlds, call: WebCall): World {
  const [first] = worlds;
  const args = readSafely(call);
  const token = tokenOf(call, args);
  const issued = first.oauth.find(token);
  if (!issued)
    return (
      worlds.find(({ app, workflowRuns }) => app.botToken === token || workflowRuns.findByToken(token)) ??
      first
    );
  const named = worlds.find(({ team }) => team.id === (issued.isOrg ? args.team_id : issued.place));
  return named ?? worldsOf(worlds, issued)[0] ?? first;
}

function checkScopes(world: World, method: string, scopes: readonly string[]): void {
  if (scopes.length === 0 || scopes.some((scope) => world.app.scopes.includes(scope))) return;
  const needed = scopes.join(',');
  world.journal.breakRule('missing_scope', `${method} needs ${needed}`);
  throw new WebApiError('missing_scope', { needed, provided: world.app.scopes.join(',') });
}

/** What can't be read is refused later. */
function readSafely(call: WebCall): Json {
  try {
    return readArguments(call);
  } catch {
    return {};
  }
}

/** Fields that are JSON within a form. */
const STRUCTURED = ['blocks', 'view', 'message', 'outputs'];

function readArguments(call: WebCall): Json {
  const form = new URLSearchParams(call.query);
  if (call.contentType.startsWith('application/json')) {
    const parsed = readJson(call.body);
    if (call.body !== '' && !isJson(parsed)) throw new WebApiError('invalid_json');
    return parseStructured({ ...Object.fromEntries(form), ...(isJson(parsed) ? parsed : {}) });
  }
  for (const [name, value] of new URLSearchParams(call.body)) form.set(name, value);
  return parseStructured(Object.fromEntries(form));
}

function parseStructured(args: Json): Json {
  const parsed = { ...args };
  for (const name of STRUCTURED) {
    const value = parsed[name];
    if (typeof value === 'string') parsed[name] = readJson(value) ?? value;
  }
  return parsed;
}
