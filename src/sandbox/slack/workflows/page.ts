import type { IncomingMessage, ServerResponse } from 'node:http';
import { escapeHtml } from '../html.ts';
import { isSameOrigin, readBody, sendText } from '../http.ts';
import { SlackRefusal } from '../refusal.ts';
import type { World } from '../world.ts';
import { PAGE_STYLE } from './page-style.ts';
import { runWorkflow } from './run-workflow.ts';
import type { WorkflowRun } from './runs.ts';
import type { StepDefinition, StepParameter } from './step-definition.ts';

const MOST_SHOWN = 20;
const RELOAD_SECONDS = 2;

/** A page that runs the steps of the app, in place of Workflow Builder (`/workflows`). */
export async function answerWorkflows(
  world: World,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
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
<p>In place of Workflow Builder: fill in a step of the app and run it as a workflow would.</p>
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

function field(world: World, { name, title, description, type, isRequired }: StepParameter): string {
  const required = isRequired ? ' required' : '';
  const optional = isRequired ? '' : ' <small>optional</small>';
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
