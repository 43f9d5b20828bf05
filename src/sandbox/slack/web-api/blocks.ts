import { type BlockKitFault, findMessageFaults, findViewFaults } from '../block-kit/find-faults.ts';
import { isJson, objectsIn, readJson } from '../json.ts';
import type { Json } from '../page-api.ts';
import { WebApiError } from '../refusal.ts';
import type { World } from '../world.ts';
import type { WebMethods } from './method.ts';

export const blockMethods: WebMethods = {
  'blocks.validate': { scopes: [], run: validate },
};

const KINDS = ['blocks', 'message', 'view'] as const;
type Kind = (typeof KINDS)[number];

/** Slack's types name these two fields of a message to validate, and no others. */
const MESSAGE_FIELDS = ['blocks', 'attachments'];

/** Nothing is shown to anybody, so a refusal is no broken rule. @throws WebApiError invalid_arguments, invalid_<kind> */
function validate(world: World, args: Json): Json {
  const [kind, ...others] = KINDS.filter((name) => args[name] !== undefined);
  if (kind === undefined || others.length > 0) {
    throw new WebApiError('invalid_arguments', {
      response_metadata: { messages: ['[ERROR] exactly one of blocks, message and view must be given'] },
    });
  }
  const given = readGiven(args[kind]);
  const faults = [...findFaults(kind, given), ...findRefusedBlocks(world, kind, given)];
  if (faults.length === 0) return {};
  const errors = faults.map(({ path, rule, words }) => ({
    pointer: kind === 'blocks' ? path.replace(/^\/blocks/, '') : path,
    code: rule,
    message: words,
  }));
  throw new WebApiError(`invalid_${kind}`, { errors });
}

/** A message comes as JSON within a form, like the others. */
function readGiven(value: unknown): unknown {
  return typeof value === 'string' ? readJson(value) : value;
}

function findFaults(kind: Kind, given: unknown): readonly BlockKitFault[] {
  if (kind === 'view') return isJson(given) ? findViewFaults(given) : [wrongType('an object')];
  if (kind === 'blocks')
    return Array.isArray(given) ? findMessageFaults({ blocks: given }) : [wrongType('a list')];
  if (!isJson(given)) return [wrongType('an object')];
  const unknown = Object.keys(given).filter((field) => !MESSAGE_FIELDS.includes(field));
  return [
    ...unknown.map((field) => fault(`/${field}`, 'unknown_field', `${field} is not validated`)),
    ...findMessageFaults({ blocks: given.blocks }),
  ];
}

/** The blocks that a fault switch refuses, each with its place. */
function findRefusedBlocks(world: World, kind: Kind, given: unknown): readonly BlockKitFault[] {
  const holder = kind === 'blocks' ? { blocks: given } : given;
  return objectsIn(holder, 'blocks').flatMap(({ type }, index) =>
    world.faults.isRefused(String(type))
      ? [fault(`/blocks/${index}/type`, 'unknown_type', 'unsupported type of block')]
      : [],
  );
}

const fault = (path: string, rule: BlockKitFault['rule'], words: string): BlockKitFault => ({
  path,
  rule,
  words,
});

const wrongType = (wanted: string) => fault('', 'wrong_type', `must be ${wanted}`);
