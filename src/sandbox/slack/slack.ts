import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { sendEvent } from './acts/elsewhere.ts';
import { type Channel, createChannels, findChannel } from './channels.ts';
import { type SlackClock, wallClock } from './clock.ts';
import { Deliverer, type Delivery } from './deliver.ts';
import { Persona } from './driver.ts';
import { Faults } from './faults.ts';
import { createIds } from './ids.ts';
import { Journal, type SlackListener } from './journal.ts';
import { isJson, readJson } from './json.ts';
import { Messages } from './messages.ts';
import type { BrokenLaw, Json, PageShortcut, TrafficEntry } from './page-api.ts';
import { commandFields } from './payloads.ts';
import { findPings } from './render/pings.ts';
import { ReplyUrls } from './reply-urls.ts';
import { createSlackServer, type Pages } from './server.ts';
import { signBody } from './sign.ts';
import { Triggers } from './triggers.ts';
import { Views } from './views.ts';
import { APP, PEOPLE, type PersonName } from './workspace.ts';
import type { InstalledApp, World } from './world.ts';

export interface SlackOptions {
  readonly app: {
    /** The app's `/slack/events`; may be set later at `slack.app.commandsUrl`. */
    readonly commandsUrl?: string;
    readonly signingSecret: string;
    readonly botToken: string;
    /** Default `/vps`. */
    readonly command?: string;
    readonly description?: string;
    readonly usageHint?: string;
    readonly scopes: readonly string[];
    readonly shortcuts?: readonly PageShortcut[];
    /** Default 3000, as with Slack. */
    readonly ackTimeoutMs?: number;
  };
  /** For triggers (3 s), response_urls (30 min) and timestamps; default the wall clock. */
  readonly clock?: SlackClock;
  /** Default: any free one. */
  readonly port?: number;
  /** Serves the paths that the local Slack does not. */
  readonly pages?: Pages;
}

/** Starts a local Slack with one workspace on the loopback address. */
export async function startSlack(options: SlackOptions): Promise<LocalSlack> {
  const clock = options.clock ?? wallClock;
  let origin = '';
  const world = createWorld(options, clock, () => origin);
  const server = createSlackServer(world, options.pages);
  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  origin = `http://127.0.0.1:${port}`;
  return new LocalSlack(world, async () => {
    if (!server.listening) return;
    world.deliverer.abort();
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  });
}

function createWorld(options: SlackOptions, clock: SlackClock, origin: () => string): World {
  const ids = createIds(clock);
  const journal = new Journal(clock);
  const app: InstalledApp = {
    commandsUrl: '',
    command: '/vps',
    description: 'Servers',
    usageHint: 'help',
    shortcuts: [],
    ackTimeoutMs: 3000,
    verificationToken: ids.secret(),
    ...options.app,
  };
  for (const secret of [app.botToken, app.signingSecret, app.verificationToken]) journal.keepSecret(secret);
  return {
    app,
    clock,
    ids,
    journal,
    channels: createChannels(),
    messages: new Messages(ids, journal),
    views: new Views(ids, journal),
    triggers: new Triggers(clock, ids),
    replyUrls: new ReplyUrls(clock, ids),
    faults: new Faults(),
    deliverer: new Deliverer(() => app, clock, journal),
    offered: new Map(),
    origin,
  };
}

/** A running local Slack. */
export class LocalSlack implements AsyncDisposable {
  readonly #world: World;
  readonly #close: () => Promise<void>;

  constructor(world: World, close: () => Promise<void>) {
    this.#world = world;
    this.#close = close;
  }

  /** `http://127.0.0.1:1234` */
  get url(): string {
    return this.#world.origin();
  }

  /** For the SDK's slackApiUrl. */
  get apiUrl(): string {
    return `${this.url}/api/`;
  }

  /** The installed app: its address, scopes and so on may be changed at any time. */
  get app(): InstalledApp {
    return this.#world.app;
  }

  get faults(): Faults {
    return this.#world.faults;
  }

  /** Somebody of the workspace, in `#ops` until `in` says otherwise. */
  as(name: PersonName): Persona {
    return new Persona(this.#world, PEOPLE[name], '#ops');
  }

  /** Finds a channel by `#name` or id; its `members` may be changed. */
  channel(nameOrId: string): Channel | undefined {
    return findChannel(this.#world.channels, nameOrId);
  }

  onEvent(listener: SlackListener): () => void {
    return this.#world.journal.onEvent(listener);
  }

  traffic(): readonly TrafficEntry[] {
    return this.#world.journal.traffic();
  }

  /** Everything that a good app never does, as it was done. */
  brokenLaws(): readonly BrokenLaw[] {
    return this.#world.journal.laws();
  }

  /** All requests to the app, unmasked, oldest first. */
  deliveries(): readonly Delivery[] {
    return this.#world.deliverer.list();
  }

  /** Whom the app's messages that are there now notify by name. */
  pings(): readonly string[] {
    return this.#world.messages
      .all()
      .filter((message) => message.user === APP.botUserId)
      .flatMap(findPings);
  }

  /** Sends the identical signed request again, as an eavesdropper would. */
  redeliver(delivery: Delivery): Promise<Delivery> {
    return this.#world.deliverer.sendRaw(`${delivery.what} (again)`, delivery.body, delivery.headers);
  }

  /** The fields of a genuine command, to be altered and delivered below. */
  commandFields(name: PersonName, channelName: string, text: string): Record<string, string> {
    const channel = findChannel(this.#world.channels, channelName, PEOPLE[name].id);
    if (!channel) throw new Error(`There is no channel ${channelName}`);
    return commandFields(this.#world, PEOPLE[name], channel, text);
  }

  /** Delivers fields (a form) or a payload (an interaction) with a good signature. */
  deliverSigned(content: DeliveryContent): Promise<Delivery> {
    return this.#world.deliverer.send('made up', 'form', formOf(content));
  }

  /**
   * Delivers what was delivered before with changes of an attacker's making, well signed: another
   * person's id, another team. Nothing of the answer shows in the workspace.
   */
  deliverAltered(delivery: Delivery, change: (content: Json) => Json): Promise<Delivery> {
    const fields = Object.fromEntries(new URLSearchParams(delivery.body));
    const payload = fields.payload === undefined ? undefined : readJson(fields.payload);
    if (isJson(payload)) return this.deliverSigned({ payload: change(payload) });
    const changed = Object.entries(change(fields)).map(([name, value]) => [name, String(value)]);
    return this.deliverSigned({ fields: Object.fromEntries(changed) });
  }

  /** The same as `deliverSigned`, signed with another secret. */
  deliverForged(content: DeliveryContent): Promise<Delivery> {
    const body = formOf(content);
    const timestamp = String(Math.floor(Date.now() / 1000));
    return this.deliverRaw(body, { timestamp, signature: signBody('not the secret', timestamp, body) });
  }

  /** Delivers a body under whatever headers; without a signature none is sent. */
  deliverRaw(
    body: string,
    headers: { readonly timestamp?: string; readonly signature?: string; readonly contentType?: string },
  ): Promise<Delivery> {
    return this.#world.deliverer.sendRaw('made up', body, {
      'content-type': headers.contentType ?? 'application/x-www-form-urlencoded',
      ...(headers.timestamp === undefined ? {} : { 'x-slack-request-timestamp': headers.timestamp }),
      ...(headers.signature === undefined ? {} : { 'x-slack-signature': headers.signature }),
    });
  }

  /** The right signature of a body, for `deliverRaw`. */
  sign(body: string, timestampSeconds: number | string): string {
    return signBody(this.#world.app.signingSecret, timestampSeconds, body);
  }

  /** Sends an event of the Events API: `{ type: 'app_uninstalled' }`. */
  sendEvent(event: Json): Promise<Delivery> {
    return sendEvent(this.#world, event);
  }

  /** An admin removes the app from the workspace. */
  uninstallApp(): Promise<Delivery> {
    return sendEvent(this.#world, { type: 'app_uninstalled' });
  }

  stop(): Promise<void> {
    return this.#close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#close();
  }
}

/** A command's fields, or an interaction's payload. */
export type DeliveryContent =
  | { readonly fields: Readonly<Record<string, string>> }
  | { readonly payload: Json };

function formOf(content: DeliveryContent): string {
  const fields = 'fields' in content ? content.fields : { payload: JSON.stringify(content.payload) };
  return new URLSearchParams(fields).toString();
}
