import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { HostingClock } from '../../src/sandbox/hosting/clock.ts';
import type { FaultRule } from '../../src/sandbox/hosting/faults.ts';
import { readOwnManifest, withSteps } from '../../src/sandbox/slack/manifest.ts';
import type { WorkflowRun } from '../../src/sandbox/slack/workflows.ts';
import type { UserName } from '../../src/sandbox/slack/workspace.ts';
import { createIds, realSystem, type System } from '../../src/system.ts';
import { type Installs, startInstalls } from '../support/installs.ts';
import type { LocalSlack } from '../support/slack/local-slack.ts';
import type { Persona } from '../support/slack/persona.ts';
import { startTeam, type Team, type TeamOptions } from '../support/team.ts';
import { Recorder } from './recorder.ts';

/** When every story begins: a Monday after any on which this runs, since the app refuses what seems to be signed in the future. */
const START = Date.parse('2030-03-04T08:00:00Z');
/** So that acts have an order; what comes later by itself comes when a story lets time pass. */
const ACT_MS = 1;
const LOOK_MS = 1500;
export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** A clock that stands still but for what a story lets pass, and a millisecond for each act. */
function standingSystem() {
  let now = START;
  let aheadMs = 0;
  const system: System = {
    ...realSystem,
    now: () => now,
    elapsed: () => realSystem.elapsed() + aheadMs,
    newId: createIds(() => now, realSystem.random),
  };
  return {
    system,
    tick: () => {
      now += ACT_MS;
    },
    pass: (ms: number) => {
      now += ms;
      aheadMs += ms;
    },
  };
}

/** The bodies of requests by the port of the server that got them, in the order of arrival; the hosting service keeps none. */
const bodies = new Map<number, { readonly path: string; body: string }[]>();
subscribe('http.server.request.start', (event) => {
  const { request } = event as { request: IncomingMessage };
  const seen = bodies.get(request.socket.localPort ?? 0);
  if (!seen || request.method === 'GET') return;
  const entry = { path: request.url ?? '', body: '' };
  seen.push(entry);
  request.on('data', (chunk: Buffer) => {
    entry.body += chunk.toString('utf8');
  });
});

export interface SceneOptions extends Omit<TeamOptions, 'system'> {
  /** How many servers there are of each prefix: `{ web: 2 }` makes web-1 and web-2. */
  readonly servers?: Readonly<Record<string, number>>;
  /** The app is installed by OAuth; nobody has done that yet. */
  readonly isInstalled?: false;
  /** The app offers its step for workflows. */
  readonly hasStep?: true;
}

/** What a story acts in: a team whose every effect is recorded after each act. */
export class Scene {
  readonly team: Team;
  readonly installs: Installs | undefined;
  readonly recorder: Recorder;
  readonly #clock: ReturnType<typeof standingSystem>;

  private constructor(
    team: Team,
    installs: Installs | undefined,
    recorder: Recorder,
    clock: ReturnType<typeof standingSystem>,
  ) {
    this.team = team;
    this.installs = installs;
    this.recorder = recorder;
    this.#clock = clock;
  }

  static async start(golden: readonly string[] | undefined, options: SceneOptions): Promise<Scene> {
    const clock = standingSystem();
    const { servers = {}, isInstalled, hasStep, ...more } = options;
    const manifest = hasStep ? { slackApp: { manifest: withSteps(readOwnManifest('http')) } } : {};
    const teamOptions: TeamOptions = {
      mode: 'http',
      engine: 'sqlite',
      hasRateLimits: false,
      ...manifest,
      ...more,
      system: clock.system,
      clock: clock.system,
      hosting: { clock: new HostingClock(clock.system.now), ...options.hosting },
    };
    const installs = isInstalled === false ? await startInstalls(teamOptions) : undefined;
    const team = installs ?? (await startTeam(teamOptions));
    for (const [prefix, count] of Object.entries(servers))
      team.hosting.seedServers(team.account, count, prefix);
    const seen: { readonly path: string; body: string }[] = [];
    bodies.set(team.hosting.port, seen);
    const slacks: [string, LocalSlack][] = installs
      ? [
          ['Sandbox', installs.first],
          ['Second', installs.second],
        ]
      : [['', team.slack]];
    const recorder = new Recorder({ team, slacks: new Map(slacks), bodies: seen, golden });
    return new Scene(team, installs, recorder, clock);
  }

  as(name: UserName, place = '#ops', slack: LocalSlack = this.team.slack): Actor {
    const where = slack === this.installs?.second ? `${place} of Second` : place;
    return new Actor(this, slack.as(name).in(place), `${name} in ${where}`);
  }

  /** Anything that happens outside of Slack, in words. */
  async does<Result>(words: string, act: () => Promise<Result> | Result): Promise<Result> {
    await this.recorder.begin(words);
    this.#clock.tick();
    return act();
  }

  fails(rule: FaultRule): Promise<unknown> {
    const { on, kind, code = '' } = rule;
    return this.does(`(the hosting API will answer ${on} with ${kind} ${code}`.trim().concat(')'), () =>
      this.team.hosting.faults.add(rule),
    );
  }

  passes(ms: number, words: string): Promise<unknown> {
    return this.does(`(${words})`, () => this.#clock.pass(ms));
  }

  /** Time counts only from the app's first look on, which nothing shows: it passes again and again. */
  passesUntil(ms: number, actor: Actor, words: string): Promise<unknown> {
    return this.does(`(time passes until ${actor.persona.id} sees “${words}”)`, async () => {
      while (!actor.persona.screen().includes(words)) {
        this.#clock.pass(ms);
        await realSystem.sleep(LOOK_MS);
      }
    });
  }

  async runsWorkflow(inputs: Readonly<Record<string, string>>): Promise<WorkflowRun> {
    const { key, ...shown } = inputs;
    const words = `a workflow runs ${JSON.stringify(shown)}${key === undefined ? '' : ' with a key'}`;
    const run = await this.does(words, () => this.team.slack.runsWorkflow('power_action', inputs));
    this.recorder.watchRun(run);
    return run;
  }

  /** Opens a page of the app. */
  async opens(path: string, form?: Readonly<Record<string, string>>): Promise<string> {
    const words = `a browser ${form ? 'posts to' : 'opens'} ${path}`;
    const init = form ? { method: 'POST', body: new URLSearchParams(form) } : {};
    const answer = await this.does(words, () =>
      fetch(`${this.team.appUrl}${path}`, { ...init, redirect: 'manual' }),
    );
    const text = await answer.text();
    this.recorder.note(`page ${answer.status}`, textOf(text));
    return text;
  }

  async end(): Promise<string> {
    const text = await this.recorder.end();
    await this.team[Symbol.asyncDispose]();
    bodies.delete(this.team.hosting.port);
    return text;
  }
}

/** A page's words. */
export function textOf(html: string): string {
  return html
    .replace(/<style[\s\S]*?<\/style>/g, '')
    .replace(/<[^>]*>/g, '\n')
    .replace(/\s*\n\s*/g, '\n')
    .trim();
}

type Acts =
  | 'types'
  | 'presses'
  | 'chooses'
  | 'fills'
  | 'submits'
  | 'closes'
  | 'opensHome'
  | 'usesMessageShortcut'
  | 'reloads';

/** A persona whose acts are written down. */
export class Actor {
  readonly #scene: Scene;
  readonly #persona: Persona;
  readonly #who: string;

  constructor(scene: Scene, persona: Persona, who: string) {
    this.#scene = scene;
    this.#persona = persona;
    this.#who = who;
  }

  /** The same user with the thread open that begins with the newest message that shows this. */
  inThreadOf(text: string): Actor {
    return new Actor(this.#scene, this.#persona.inThreadOf(text), `${this.#who} in a thread`);
  }

  types(text: string) {
    return this.#act('types', text, () => this.#persona.types(text));
  }

  presses(button: string, { confirm = true } = {}) {
    const words = `[${button}]${confirm ? '' : ', and then not'}`;
    return this.#act('presses', words, () => this.#persona.presses(button, { confirm }));
  }

  chooses(menu: string, option: string) {
    return this.#act('chooses', `${menu}: ${option}`, () => this.#persona.chooses(menu, option));
  }

  fills(values: Parameters<Persona['fills']>[0]) {
    return this.#act('fills', JSON.stringify(values), () => this.#persona.fills(values));
  }

  submits() {
    return this.#act('submits', '', () => this.#persona.submits());
  }

  closes() {
    return this.#act('closes', '', () => this.#persona.closes());
  }

  reloads() {
    return this.#act('reloads', '', async () => this.#persona.reloads());
  }

  opensHome() {
    return this.#act('opensHome', '', () => this.#persona.opensHome());
  }

  usesMessageShortcut(callbackId: string, text: string) {
    const words = `${callbackId} on “${text}”`;
    return this.#act('usesMessageShortcut', words, () => this.#persona.usesMessageShortcut(callbackId, text));
  }

  /** Waits; not written down. */
  sees(wanted: string | RegExp) {
    return this.#persona.sees(wanted);
  }

  get persona(): Persona {
    return this.#persona;
  }

  async #act<Result>(verb: Acts, words: string, act: () => Promise<Result>): Promise<Result> {
    return this.#scene.does(`${this.#who} ${verb} ${words}`.trim(), act);
  }
}
