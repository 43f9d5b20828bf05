import type { BlockKitFault } from '../block-kit/fault.ts';
import { checkMessage, checkView, faultWords, hasRefusedBlock } from '../checks.ts';
import { isJson, textIn } from '../json.ts';
import type { IssuedToken } from '../oauth.ts';
import type { Json } from '../page-api.ts';
import { WebApiError } from '../refusal.ts';
import { APP, type Channel, findChannel } from '../workspace.ts';
import type { World, Worlds } from '../world.ts';

/** One Web API method: the scope it needs, and what it does; what it gives is answered with ok: true. */
interface WebMethod {
  /** Any of these scopes is enough; empty: none is needed. */
  readonly scopes: readonly string[];
  run(world: World, args: Json, call: AuthorizedCall): Json;
}

interface AuthorizedCall {
  readonly worlds: Worlds;
  readonly token: string;
  /** Undefined for the tokens that the local Slack was started with. */
  readonly issued: IssuedToken | undefined;
}

export type WebMethods = Readonly<Record<string, WebMethod>>;

/** @throws WebApiError invalid_arguments */
export function required(args: Json, field: string): string {
  const value = args[field];
  if (typeof value === 'string' && value !== '') return value;
  throw new WebApiError('invalid_arguments', {
    response_metadata: { messages: [`[ERROR] missing required field: ${field}`] },
  });
}

/**
 * A channel that the bot may see: public ones, and private ones it is in.
 * @throws WebApiError channel_not_found
 */
export function getVisibleChannel(world: World, wanted: string): Channel {
  const channel = findChannel(world.channels, wanted);
  const isHidden = channel && ['private', 'dm'].includes(channel.kind) && !channel.members.has(APP.botUserId);
  if (!channel || isHidden) throw new WebApiError('channel_not_found');
  return channel;
}

/** @throws WebApiError no_text, invalid_blocks, msg_blocks_too_long, msg_too_long */
export function getMessageContent(world: World, what: string, args: Json): { text: string; blocks: unknown } {
  const text = textIn(args, 'text');
  const hasBlocks = Array.isArray(args.blocks) && args.blocks.length > 0;
  if (args.blocks !== undefined && !Array.isArray(args.blocks))
    throw new WebApiError('invalid_blocks_format');
  if (text.trim() === '' && !hasBlocks) throw new WebApiError('no_text');
  if (hasRefusedBlock(world, args.blocks)) throw invalidBlocks(['[ERROR] unsupported type of block']);
  const faults = checkMessage(world, what, {
    ...(text ? { text } : {}),
    ...(hasBlocks ? { blocks: args.blocks } : {}),
  });
  refuseFaults(faults);
  return { text, blocks: args.blocks };
}

/** @throws WebApiError invalid_arguments, view_too_large */
export function getViewContent(world: World, what: string, args: Json, type: 'modal' | 'home'): Json {
  const { view } = args;
  if (!isJson(view)) required({}, 'view');
  if (hasRefusedBlock(world, isJson(view) ? view.blocks : undefined))
    throw invalidArguments(['[ERROR] unsupported type of block']);
  const faults = checkView(world, what, view);
  if (faults.some((fault) => fault.rule === 'too_large')) throw new WebApiError('view_too_large');
  if (faults.length > 0) throw invalidArguments(faultWords(faults));
  if (!isJson(view) || view.type !== type) {
    throw invalidArguments([`[ERROR] must be a ${type} view [json-pointer:/view/type]`]);
  }
  return view;
}

function refuseFaults(faults: readonly BlockKitFault[]): void {
  if (faults.length === 0) return;
  if (faults.every((fault) => fault.rule === 'text_budget')) throw new WebApiError('msg_blocks_too_long');
  if (faults.every((fault) => fault.path === '/text')) throw new WebApiError('msg_too_long');
  throw invalidBlocks(faultWords(faults));
}

function invalidBlocks(messages: readonly string[]): WebApiError {
  return new WebApiError('invalid_blocks', { errors: messages, response_metadata: { messages } });
}

function invalidArguments(messages: readonly string[]): WebApiError {
  return new WebApiError('invalid_arguments', { response_metadata: { messages } });
}
