import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendEvent } from './events.ts';
import { escapeHtml, isSameOrigin, readBody, sendText } from './http.ts';
import type { Journal } from './journal.ts';
import type { StepDefinition, StepParameter } from './manifest.ts';
import type { Json } from './page-api.ts';
import { SlackRefusal } from './refusal.ts';
import { APP, findChannel } from './workspace.ts';
import type { Ids, World } from './world.ts';

/** What only those who edit a workflow read. */
const SECRET_INPUTS = ['key'];

/**
 * Runs a workflow of one step, and resolves when the app has acknowledged or failed to. An app that doesn't acknowledge in time
 * has failed the step, as users of Slack saw it; the event comes again all the same.
 * @throws SlackRefusal unknown_step, invalid_input
 */
export async function runWorkflow(world: World, stepId: string, given: Json): Promise<WorkflowRun> {
  const step = world.app.steps.find(({ id }) => id === stepId);
  if (!step) throw new SlackRefusal('unknown_step', `The app offers no step ${stepId} in workflows`);
  const inputs = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''));
  const errors = findInputErrors(world, step, inputs);
  if (Object.keys(errors).length > 0)
    throw new SlackRefusal('invalid_input', Object.values(errors).join('; '), errors);
  // Every user of the sandbox sees the traffic.
  for (const name of SECRET_INPUTS) world.journal.hideSecret(String(inputs[name] ?? ''));
  const run = world.workflowRuns.start(step, inputs);
  const delivery = await sendEvent(world, describeRun(run));
  if (delivery?.status !== 200 && run.state === 'running')
    world.workflowRuns.end(run.id, {
      state: 'failed',
      error: 'The app didn’t acknowledge the step in time.',
    });
  return run;
}

/** What Workflow Builder does not let a user save. */
function findInputErrors(world: World, { inputs }: StepDefinition, given: Json): Record<string, string> {
  const unknown = Object.keys(given).filter((name) => !inputs.some((input) => input.name === name));
  const wrong = inputs.flatMap((input) => {
    const problem = findProblem(world, input, given[input.name]);
    return problem === undefined ? [] : [[input.name, `${input.title}: ${problem}`] as const];
  });
  return Object.fromEntries([...unknown.map((name) => [name, `${name}: no such input`] as const), ...wrong]);
}

function findProblem(world: World, input: StepParameter, value: unknown): string | undefined {
  if (value === undefined) return input.is_required ? 'required' : undefined;
  if (typeof value !== 'string') return 'has to be text';
  if (input.type === 'slack#/types/channel_id' && findChannel(world.channels, value)?.id !== value)
    return 'has to be the ID of a channel';
  return undefined;
}

/** The event `function_executed` (Slack's page about it): it names neither the workflow nor who started it. */
function describeRun({ id, workflowId, step, inputs, token }: WorkflowRun): Json {
  return {
    type: 'function_executed',
    function: {
      id: `Fn${step.id.toUpperCase().replaceAll('_', '')}`,
      callback_id: step.id,
      title: step.title,
      description: step.description,
      type: 'app',
      input_parameters: step.inputs,
      output_parameters: step.outputs,
      app_id: APP.id,
      date_created: 1_700_000_000,
      date_updated: 1_700_000_000,
      date_deleted: 0,
    },
    inputs,
    function_execution_id: id,
    workflow_execution_id: workflowId,
    bot_access_token: token,
  };
}

export interface WorkflowRun {
  /** `Fx…`, the ID of the step's execution. */
  readonly id: string;
  /** `Wx…` */
  readonly workflowId: string;
  readonly step: StepDefinition;
  readonly inputs: Json;
  /** For this run alone. */
  readonly token: string;
  readonly state: 'running' | 'completed' | 'failed';
  readonly outputs?: Json;
  /** What users read of a run that has failed. */
  readonly error?: string;
  readonly ended: Promise<void>;
}

type Stored = { -readonly [Field in keyof WorkflowRun]: WorkflowRun[Field] } & { end: () => void };

/** More than a user would look at. */
const MOST_RUNS = 500;

export function createWorkflowRuns(ids: Ids, journal: Journal) {
  const runs: Stored[] = [];
  const find = (id: string) => runs.find((run) => run.id === id);
  return {
    start(step: StepDefinition, inputs: Json): WorkflowRun {
      const token = `xwfp-${ids.secret()}`;
      journal.hideSecret(token);
      let end: () => void = () => undefined;
      const ended = new Promise<void>((resolve) => {
        end = resolve;
      });
      const named = { id: ids.id('Fx'), workflowId: ids.id('Wx') };
      const run: Stored = { ...named, step, inputs, token, state: 'running', ended, end };
      runs.push(run);
      if (runs.length > MOST_RUNS) runs.shift();
      return run;
    },

    /** Oldest first. */
    list: (): readonly WorkflowRun[] => runs,
    find: (id: string): WorkflowRun | undefined => find(id),
    findByToken: (token: string): WorkflowRun | undefined => runs.find((run) => run.token === token),

    end(id: string, how: Pick<WorkflowRun, 'state' | 'outputs' | 'error'>): void {
      const run = find(id);
      if (!run) return;
      Object.assign(run, how);
      run.end();
    },
  };
}

const MOST_SHOWN = 20;
const RELOAD_SECONDS = 2;

/** A page that runs the steps of the app, in place of Workflow Builder (`/workflows`). */
export async function answerWorkflows(world: World, incoming: IncomingMessage, outgoing: ServerResponse) {
  if (incoming.method !== 'POST') return showPage(world, outgoing, '');
  if (!isSameOrigin(incoming)) return sendText(outgoing, 403, 'this form belongs to another page');
  const { step = '', ...inputs } = Object.fromEntries(new URLSearchParams(await readBody(incoming)));
  try {
    await runWorkflow(world, step, inputs);
    outgoing.writeHead(303, { location: '/workflows' }).end();
  } catch (error) {
    if (!(error instanceof SlackRefusal)) throw error;
    showPage(world, outgoing, error.words);
  }
}

function showPage(world: World, outgoing: ServerResponse, problem: string): void {
  const { steps } = world.app;
  const runs = world.workflowRuns.list().slice(-MOST_SHOWN).reverse();
  // The page reloads only while it waits, so that nothing that is being entered is lost.
  const isWaiting = problem === '' && runs.some(({ state }) => state === 'running');
  const reload = isWaiting ? `<meta http-equiv="refresh" content="${RELOAD_SECONDS}">` : '';
  const forms = steps.map((step) => stepForm(world, step)).join('');
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Workflows</title>
<meta name="viewport" content="width=device-width">${reload}<style>${PAGE_STYLE}</style></head><body><main>
<h1>Workflows</h1>
<p>Stands in for Workflow Builder: fill in the app’s step and run it.</p>
${problem === '' ? '' : `<p class="problem" role="alert">${escapeHtml(problem)}</p>`}
${forms || '<p>The app’s manifest has no steps for workflows.</p>'}
<h2>Runs</h2>
${runs.length === 0 ? '<p>No workflow has run yet.</p>' : `<ol>${runs.map(runRow).join('')}</ol>`}
</main></body></html>`;
  outgoing.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' });
  outgoing.end(html);
}

function stepForm(world: World, { id, title, description, inputs }: StepDefinition): string {
  return `<form method="post" action="/workflows" autocomplete="off"><h2>${escapeHtml(title)}</h2>
<p>${escapeHtml(description)}</p><input type="hidden" name="step" value="${escapeHtml(id)}">
${inputs.map((input) => field(world, input)).join('')}<p><button>Run</button></p></form>`;
}

function field(world: World, { name, title, description, type, is_required }: StepParameter): string {
  const required = is_required ? ' required' : '';
  const optional = is_required ? '' : ' <small>optional</small>';
  const control =
    type === 'slack#/types/channel_id'
      ? `<select name="${escapeHtml(name)}"${required}><option value="">None</option>${channels(world)}</select>`
      : `<input name="${escapeHtml(name)}"${required}>`;
  return `<p><label>${escapeHtml(title)}${optional}${control}<small>${escapeHtml(description)}</small></label></p>`;
}

function channels(world: World): string {
  return world.channels
    .filter(({ kind, isArchived }) => kind !== 'dm' && !isArchived)
    .map(({ id, name }) => `<option value="${escapeHtml(id)}">#${escapeHtml(name)}</option>`)
    .join('');
}

const STATES = { running: 'In progress', completed: 'Completed', failed: 'Failed' } as const;

function runRow({ step, inputs, state, outputs, error }: WorkflowRun): string {
  // What may be a secret is not shown again.
  const given = ['action', 'server'].map((name) => inputs[name]).filter((value) => typeof value === 'string');
  const outcome = error ?? (typeof outputs?.message === 'string' ? outputs.message : '');
  return `<li><span class="dot ${state}"></span> <strong>${STATES[state]}</strong> ${escapeHtml(given.join(' ') || step.title)}
${outcome === '' ? '' : `<br>${escapeHtml(outcome)}`}</li>`;
}

const PAGE_STYLE = `
:root{color-scheme:light dark;--ink:light-dark(#1b1f24,#e4e6e9);--ink-2:light-dark(#59616b,#a7afb8);
--line:light-dark(#7a838e,#8b949e);--danger:light-dark(#b3261e,#ff9c93)}
body{margin:0;background:light-dark(#fff,#1a1d21);color:var(--ink);font:15px/1.47 system-ui,"Segoe UI",sans-serif}
main{max-width:40rem;margin:0 auto;padding:1.5rem 1rem 3rem}
h1{font-size:1.4rem;margin:0}h2{font-size:1.1rem;margin:1.5rem 0 .25rem}
p{margin:.5rem 0}small{color:var(--ink-2)}
label{display:block;font-weight:600}
small{font-weight:400}
input,select{display:block;box-sizing:border-box;width:100%;margin-top:.25rem;padding:.45rem .6rem;font:inherit;font-weight:400;
color:inherit;background:light-dark(#fff,#22262b);border:1px solid var(--line);border-radius:6px}
button{padding:.5rem 1.25rem;font:inherit;font-weight:600;color:#fff;background:light-dark(#0f6b5c,#167f6d);border:0;
border-radius:6px;cursor:pointer}
:focus-visible{outline:2px solid light-dark(#1268d3,#7fb4ff);outline-offset:2px}
.dot{display:inline-block;width:.65rem;height:.65rem;border-radius:50%;background:light-dark(#0b57c2,#7fb4ff)}
.completed{background:light-dark(#0b6b43,#6fd3a4)}.failed{background:var(--danger)}
ol{list-style:none;margin:.5rem 0;padding:0}
li{padding:.6rem 0;border-top:1px solid light-dark(#d9dde2,#3a4047);overflow-wrap:anywhere}
.problem{color:var(--danger);font-weight:600}`;
