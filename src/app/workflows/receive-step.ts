import type { ChannelId, WorkspaceId } from '../../domain/ids.ts';
import { LABEL_MAX_CHARACTERS } from '../../domain/label.ts';
import type { Secret } from '../../domain/secret.ts';
import { POWER_ACTIONS } from '../../domain/server.ts';
import { KEY_PREFIX } from '../../domain/workflow-key.ts';
import type { RunKey } from '../../domain/workflow-run.ts';
import type { AppContext } from '../ports.ts';
import { hashKey } from './key-hash.ts';
import type { NewRun } from './ports.ts';
import { type RunEntry, runStep } from './run-step.ts';

/** One execution of our step, as Slack's event describes it. */
export interface StepEvent {
  readonly workspaceId: WorkspaceId;
  readonly executionId: string;
  /** As it was entered in the workflow; so with the next two. */
  readonly action: string;
  readonly server: string;
  readonly key: Secret<string> | undefined;
  readonly channelId: ChannelId | undefined;
  /** When Slack sent it, in epoch milliseconds. */
  readonly sentAt: number | undefined;
  /** What Slack gave for this run alone. */
  readonly token: Secret<string> | undefined;
}

/** What Slack's events about our step come to. */
export interface StepIntake {
  /**
   * Stores the run, durably, before Slack gets its ack; undefined when it was stored before. The work follows the ack, and
   * never rejects.
   */
  receive(event: StepEvent): Promise<(() => Promise<void>) | undefined>;
}

/** Slack's IDs are much shorter. */
const MOST_ID = 64;

/** If the process that has stored a run dies, another one begins it after this long. */
const DUE_MS = 15_000;

/** Builds the intake over the one entry. */
export function createStepIntake(entry: RunEntry, app: AppContext): StepIntake {
  const { system, workflowRuns } = app;
  return {
    receive: async (event) => {
      const run: NewRun = await readRun(event, app);
      const isNew = await workflowRuns.receive(run, event.token, system.now() + DUE_MS);
      return isNew ? () => runStep({ ...run, state: 'received' }, entry, app) : undefined;
    },
  };
}

/** The key itself goes no further than this. */
async function readRun(event: StepEvent, app: AppContext): Promise<NewRun> {
  const { workspaceId, executionId } = event;
  const now = app.system.now();
  const typed = event.action.trim().toLowerCase();
  const action = POWER_ACTIONS.find((each) => each === typed);
  const label = findPlain(event.server, LABEL_MAX_CHARACTERS);
  const channelId = findPlain(event.channelId ?? '', MOST_ID);
  return {
    id: app.system.newId(),
    workspaceId,
    executionId,
    label: label ?? '',
    key: await findKey(event, app),
    // What waited with Slack is as late as what waited here.
    receivedAt: Math.min(now, event.sentAt ?? now),
    action,
    channelId,
  };
}

/** Undefined for what is too long, and for a key in the wrong field: everything but the key itself is stored and shown. */
function findPlain(typed: string, most: number): string | undefined {
  const text = typed.trim();
  return text === '' || text.length > most || text.includes(KEY_PREFIX) ? undefined : text;
}

async function findKey({ workspaceId, key }: StepEvent, { workflowKeys }: AppContext): Promise<RunKey> {
  if (!key) return { kind: 'none' };
  const found = await workflowKeys.findByHash(workspaceId, hashKey(key, workspaceId));
  return found ? { kind: 'key', id: found.id, name: found.name } : { kind: 'invalid' };
}
