import type { WorkflowKey } from '../../../src/core/roles.ts';
import { Secret } from '../../../src/core/secret.ts';
import { readOwnManifest, withSteps } from '../../../src/sandbox/slack/manifest.ts';
import { TEAM, USERS } from '../../../src/sandbox/slack/workspace.ts';
import { realSystem } from '../../../src/system.ts';
import { hashKey } from '../../../src/workflows/store.ts';
import { SLACK_MODE, startTeam, type Team, type TeamOptions } from '../../support/team.ts';

export const STEP = 'power_action';

/** A team whose app has the step, with servers `web-1`, `web-2` … */
export function startWorkflowTeam(servers = 2, options: Omit<TeamOptions, 'mode' | 'slackApp'> = {}) {
  const manifest = withSteps(readOwnManifest(SLACK_MODE));
  return startTeam({ servers, ...options, slackApp: { manifest } });
}

let made = 0;

/** A workflow key as an owner has issued it; returns what is entered in a workflow. */
export async function giveKey(team: Team, more: Partial<WorkflowKey> = {}) {
  const secret = `vpswf_key-of-a-test-${++made}`;
  const key: WorkflowKey = {
    id: realSystem.newId(),
    workspaceId: TEAM.id,
    name: 'nightly',
    actions: ['reboot'],
    pattern: 'web-*',
    issuedBy: USERS.olga.id,
    issuedAt: realSystem.now(),
    ...more,
  };
  const hash = hashKey(new Secret(secret), key.workspaceId);
  await team.app.ports.workflowKeys.add({ ...key, hash });
  return { id: key.id, secret };
}

type Inputs = Readonly<Record<string, string>>;

/** Begins a run of a workflow that reboots web-1, unless the inputs say otherwise. */
export const begin = (team: Team, inputs: Inputs) =>
  team.slack.runsWorkflow(STEP, { action: 'reboot', server: 'web-1', ...inputs });

/** The same, with #ops as the channel of the step. */
export const beginInOps = (team: Team, inputs: Inputs = {}) =>
  begin(team, { channel: team.slack.channel('#ops')?.id ?? '', ...inputs });

/** Runs the step and waits until Slack knows how it ended. */
export async function runToEnd(team: Team, inputs: Inputs) {
  const run = await begin(team, inputs);
  await run.ended;
  return run;
}
