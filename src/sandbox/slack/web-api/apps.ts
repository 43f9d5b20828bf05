import { findMessageFaults, findViewFaults } from '../block-kit/find-faults.ts';
import { isJson, objectsIn } from '../json.ts';
import { type IssuedToken, sendUninstalled, worldsOf } from '../oauth.ts';
import type { Json } from '../page-api.ts';
import { WebApiError } from '../refusal.ts';
import type { WorkflowRun } from '../workflows.ts';
import { APP } from '../workspace.ts';
import type { World, Worlds } from '../world.ts';
import { required, type WebMethods } from './method.ts';

/** The methods about the app and its tokens, blocks, and the steps of workflows. */
export const appMethods: WebMethods = {
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
  'auth.revoke': { scopes: [], run: (_world, _args, call) => revoke(call.worlds, getIssued(call.issued)) },
  'auth.teams.list': {
    scopes: [],
    run: (_world, _args, { worlds, issued }) => ({
      teams: worldsOf(worlds, getIssued(issued)).map(({ team: { id, name } }) => ({ id, name })),
      // All are on one page.
      response_metadata: { next_cursor: '' },
    }),
  },
  'blocks.validate': { scopes: [], run: validate },
  'functions.completeSuccess': {
    scopes: [],
    run: (world, args, { token }) => {
      const run = getRunning(world, args, token);
      if (!isJson(args.outputs)) required({}, 'outputs');
      const outputs = isJson(args.outputs) ? args.outputs : {};
      checkOutputs(world, run, outputs);
      world.workflowRuns.end(run.id, { state: 'completed', outputs });
      return {};
    },
  },
  'functions.completeError': {
    scopes: [],
    run: (world, args, { token }) => {
      const run = getRunning(world, args, token);
      world.workflowRuns.end(run.id, { state: 'failed', error: required(args, 'error') });
      return {};
    },
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

/** @throws WebApiError not_allowed_token_type for the token that the local Slack was started with */
function getIssued(issued: IssuedToken | undefined): IssuedToken {
  if (!issued) throw new WebApiError('not_allowed_token_type');
  return issued;
}

/** The last token of an app takes the app with it. */
function revoke(worlds: Worlds, issued: IssuedToken): Json {
  issued.revoked = 'token_revoked';
  const [world] = worldsOf(worlds, issued);
  if (world && world.oauth.listActive(issued.place).length === 0) void sendUninstalled(world, true);
  return { revoked: true };
}

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
  const missing = step.outputs.filter((output) => output.is_required && outputs[output.name] === undefined);
  const unknown = Object.keys(outputs).filter((name) => !step.outputs.some((each) => each.name === name));
  const wrong = Object.entries(outputs).filter(([, value]) => typeof value !== 'string');
  if (missing.length + unknown.length + wrong.length === 0) return;
  world.journal.breakRule('bad_outputs', `functions.completeSuccess: not the outputs of ${step.id}`);
  throw new WebApiError('parameter_validation_failed');
}

/**
 * Takes a view, or the blocks of a message. Nothing is shown to anybody, so a refusal is no broken rule.
 * @throws WebApiError invalid_arguments, invalid_message, invalid_view
 */
function validate(world: World, { view, message }: Json): Json {
  const given = view ?? message;
  if (!isJson(given) || (view !== undefined && message !== undefined))
    throw new WebApiError('invalid_arguments');
  const { blocks, ...others } = given;
  const faults = view === undefined ? findMessageFaults({ blocks }) : findViewFaults(given);
  const unknown = view === undefined ? Object.keys(others) : [];
  const errors = [
    ...faults.map(({ path, rule, words }) => ({ pointer: path, code: rule, message: words })),
    ...unknown.map((field) => ({ pointer: `/${field}`, code: 'unknown_field', message: 'is not validated' })),
    ...objectsIn(given, 'blocks').flatMap(({ type }, at) =>
      world.faults.isRefused(String(type))
        ? [{ pointer: `/blocks/${at}/type`, code: 'unknown_type', message: 'unsupported type of block' }]
        : [],
    ),
  ];
  if (errors.length > 0)
    throw new WebApiError(view === undefined ? 'invalid_message' : 'invalid_view', { errors });
  return {};
}
