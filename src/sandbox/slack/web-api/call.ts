import { findChannel } from '../channels.ts';
import { isJson, readJson, textIn } from '../json.ts';
import type { Json } from '../page-api.ts';
import { WebApiError } from '../refusal.ts';
import type { World } from '../world.ts';
import { authMethods } from './auth.ts';
import { blockMethods } from './blocks.ts';
import { chatMethods } from './chat.ts';
import { conversationMethods } from './conversations.ts';
import type { WebMethods } from './method.ts';
import { userMethods } from './users.ts';
import { viewMethods } from './views.ts';

const METHODS: WebMethods = {
  ...authMethods,
  ...blockMethods,
  ...chatMethods,
  ...conversationMethods,
  ...userMethods,
  ...viewMethods,
};

export interface WebCall {
  readonly method: string;
  readonly contentType: string;
  readonly authorization: string;
  readonly query: string;
  readonly body: string;
}

export interface WebAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Json;
}

/** Answers one call of the Web API, as Slack does: 200 with ok false for all refusals but rate limits. */
export function answerWebCall(world: World, call: WebCall): WebAnswer {
  const headers = { 'x-oauth-scopes': world.app.scopes.join(',') };
  try {
    const retryAfter = world.faults.takeRateLimit(call.method) ?? takeLimit(world, call);
    if (retryAfter !== undefined) return tooMany(retryAfter);
    return { status: 200, headers, body: { ok: true, ...run(world, call) } };
  } catch (error) {
    if (!(error instanceof WebApiError)) throw error;
    return { status: 200, headers, body: { ok: false, error: error.code, ...error.more } };
  }
}

function tooMany(retryAfter: number): WebAnswer {
  const headers = { 'retry-after': String(retryAfter) };
  return { status: 429, headers, body: { ok: false, error: 'ratelimited' } };
}

/** A message to a user, and one in their conversation with the app, are in the same channel. */
function takeLimit(world: World, call: WebCall): number | undefined {
  const wanted = textIn(readArguments(call), 'channel');
  const channel = findChannel(world.channels, world.roster.findUser(wanted) ? 'dm' : wanted, wanted);
  return world.limits.take(call.method, channel?.id ?? wanted);
}

function run(world: World, call: WebCall): Json {
  const args = readArguments(call);
  if (call.method !== 'api.test') checkToken(world, call, args);
  const method = Object.hasOwn(METHODS, call.method) ? METHODS[call.method] : undefined;
  if (!method) {
    world.journal.breakLaw('unknown_method', `${call.method} is no method of the local Slack`);
    throw new WebApiError('unknown_method', { req_method: call.method });
  }
  checkScopes(world, call.method, method.scopes);
  const failure = world.faults.takeFailure(call.method);
  if (failure) throw new WebApiError(failure);
  return method.run(world, args);
}

function checkToken(world: World, call: WebCall, args: Json): void {
  const token = call.authorization.replace(/^Bearer\s*/, '') || textIn(args, 'token');
  if (token === '') throw new WebApiError('not_authed');
  if (token === world.app.botToken) return;
  world.journal.breakLaw('invalid_auth', `${call.method}: this is not the app's token`);
  throw new WebApiError('invalid_auth');
}

function checkScopes(world: World, method: string, scopes: readonly string[]): void {
  if (scopes.length === 0 || scopes.some((scope) => world.app.scopes.includes(scope))) return;
  const needed = scopes.join(',');
  world.journal.breakLaw('missing_scope', `${method} needs ${needed}`);
  throw new WebApiError('missing_scope', { needed, provided: world.app.scopes.join(',') });
}

/** Fields that are JSON within a form. */
const STRUCTURED = new Set(['blocks', 'view', 'attachments', 'metadata']);

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
