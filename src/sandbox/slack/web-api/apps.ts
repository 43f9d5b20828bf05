import type { BlockKitFault } from '../block-kit/fault.ts';
import { findMessageFaults, findViewFaults } from '../block-kit/find-faults.ts';
import { isJson, objectsIn, readJson } from '../json.ts';
import type { Json } from '../page-api.ts';
import { WebApiError } from '../refusal.ts';
import type { WorkflowRun } from '../workflows.ts';
import { APP } from '../workspace.ts';
import type { World } from '../world.ts';
import { required, type WebMethods } from './method.ts';

export const authMethods: WebMethods = {
  'auth.test': {
    scopes: [],
    run: (world) => ({
      url: `${world.origin()}/`,
      team: world.team.name,
      user: APP.name,
      team_id: world.team.id,
      user_id: APP.botUserId,
      bot_id: APP.botId,
      ...(world.grid ? { enterprise_id: world.grid.id } : {}),
      is_enterprise_install: world.grid?.isOrgInstall ?? false,
    }),
  },
};

/** What takes an app-level token instead of the bot's. */
export const connectionMethods: WebMethods = {
  'apps.connections.open': {
    // Its scope belongs to the app-level token, which has scopes of its own.
    scopes: [],
    run: (world) => {
      const provided = world.app.appTokenScopes;
      if (!provided.includes('connections:write'))
        throw new WebApiError('missing_scope', { needed: 'connections:write', provided: provided.join(',') });
      return { url: `${world.origin().replace(/^http/, 'ws')}${world.sockets.createPath()}` };
    },
  },
};

/** The methods that end a step of a workflow; they need no scope. */
export const functionMethods: WebMethods = {
  'functions.completeSuccess': {
    scopes: [],
    run: (world, args, token) => {
      const run = getRunning(world, args, token);
      if (!isJson(args.outputs)) required({}, 'outputs');
      const outputs = isJson(args.outputs) ? args.outputs : {};
      checkOutputs(world, run, outputs);
      world.workflowRuns.complete(run.id, outputs);
      return {};
    },
  },
  'functions.completeError': {
    scopes: [],
    run: (world, args, token) => {
      const run = getRunning(world, args, token);
      world.workflowRuns.fail(run.id, required(args, 'error'));
      return {};
    },
  },
};

/**
 * Whether the token is that of a run. It works for as long as its run goes on.
 * @throws WebApiError token_revoked, token_expired
 */
export function useRunToken(world: World, token: string): boolean {
  const run = world.workflowRuns.findByToken(token);
  if (!run) return false;
  if (run.state !== 'running') throw new WebApiError('token_revoked');
  if (world.faults.endsRunTokens) throw new WebApiError('token_expired');
  return true;
}

/** @throws WebApiError function_execution_not_found, execution_not_in_running_state, not_allowed_token_type */
function getRunning(world: World, args: Json, token: string): WorkflowRun {
  const run = world.workflowRuns.find(required(args, 'function_execution_id'));
  const ofToken = world.workflowRuns.findByToken(token);
  if (!ofToken && world.faults.refusesBotTokens) throw new WebApiError('not_allowed_token_type');
  if (!run || (ofToken && ofToken !== run)) throw new WebApiError('function_execution_not_found');
  if (run.state !== 'running') throw new WebApiError('execution_not_in_running_state');
  return run;
}

/** @throws WebApiError parameter_validation_failed where they are not those of the manifest */
function checkOutputs(world: World, { step }: WorkflowRun, outputs: Json): void {
  const missing = step.outputs.filter(({ name, isRequired }) => isRequired && outputs[name] === undefined);
  const unknown = Object.keys(outputs).filter((name) => !step.outputs.some((each) => each.name === name));
  const wrong = Object.entries(outputs).filter(([, value]) => typeof value !== 'string');
  if (missing.length + unknown.length + wrong.length === 0) return;
  world.journal.breakRule('bad_outputs', `functions.completeSuccess: not the outputs of ${step.id}`);
  throw new WebApiError('parameter_validation_failed');
}

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
