import type { Ids } from '../ids.ts';
import type { Journal } from '../journal.ts';
import type { Json } from '../page-api.ts';
import type { StepDefinition } from './step-definition.ts';

/** One run of a workflow with one step of the app. */
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
  /** Resolves when it has ended. */
  readonly ended: Promise<void>;
}

type Stored = { -readonly [Field in keyof WorkflowRun]: WorkflowRun[Field] } & { end: () => void };

/** More than a user would look at. */
const MOST_RUNS = 500;

/** The runs of workflows, with their tokens. */
export class WorkflowRuns {
  readonly #ids: Ids;
  readonly #journal: Journal;
  readonly #runs: Stored[] = [];

  constructor(ids: Ids, journal: Journal) {
    this.#ids = ids;
    this.#journal = journal;
  }

  start(step: StepDefinition, inputs: Json): WorkflowRun {
    const token = `xwfp-${this.#ids.secret()}`;
    this.#journal.hideSecret(token);
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const ids = { id: this.#ids.id('Fx'), workflowId: this.#ids.id('Wx') };
    const run: Stored = { ...ids, step, inputs, token, state: 'running', ended, end };
    this.#runs.push(run);
    if (this.#runs.length > MOST_RUNS) this.#runs.shift();
    this.#journal.emit({ type: 'workflow' });
    return run;
  }

  /** Oldest first. */
  list(): readonly WorkflowRun[] {
    return this.#runs;
  }

  find(id: string): WorkflowRun | undefined {
    return this.#runs.find((run) => run.id === id);
  }

  findByToken(token: string): WorkflowRun | undefined {
    return this.#runs.find((run) => run.token === token);
  }

  complete(id: string, outputs: Json): void {
    this.#end(id, { state: 'completed', outputs });
  }

  fail(id: string, error: string): void {
    this.#end(id, { state: 'failed', error });
  }

  #end(id: string, how: Partial<Stored>): void {
    const run = this.#runs.find((each) => each.id === id);
    if (!run) return;
    Object.assign(run, how);
    run.end();
    this.#journal.emit({ type: 'workflow' });
  }
}
