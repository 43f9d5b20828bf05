import { type Delivery, type DeliveryKind, signBody } from '../../../src/sandbox/slack/deliver.ts';
import { sendEvent, sendPosted } from '../../../src/sandbox/slack/events.ts';
import type { Faults } from '../../../src/sandbox/slack/faults.ts';
import type { SlackListener } from '../../../src/sandbox/slack/journal.ts';
import { isJson, readJson } from '../../../src/sandbox/slack/json.ts';
import { findPings } from '../../../src/sandbox/slack/mentions.ts';
import type { MessageDraft, StoredMessage } from '../../../src/sandbox/slack/messages.ts';
import { type OAuth, revokeTokens, sendUninstalled } from '../../../src/sandbox/slack/oauth.ts';
import type { BrokenRule, Json, TrafficEntry } from '../../../src/sandbox/slack/page-api.ts';
import { commandFields } from '../../../src/sandbox/slack/payloads.ts';
import { type SlackServer, serveSlack } from '../../../src/sandbox/slack/server.ts';
import type { SocketConnections } from '../../../src/sandbox/slack/sockets.ts';
import { showAck } from '../../../src/sandbox/slack/user-actions/type.ts';
import { runWorkflow } from '../../../src/sandbox/slack/workflows.ts';
import {
  APP,
  type Channel,
  conversationWith,
  findChannel,
  OTHER_BOT,
  type Team,
  type User,
  type UserGroup,
  type UserName,
} from '../../../src/sandbox/slack/workspace.ts';
import type { Grid, InstalledApp, SlackOptions, World } from '../../../src/sandbox/slack/world.ts';
import { Persona } from './persona.ts';

/** Starts a local Slack with one workspace on the loopback address. */
export async function startSlack(options: SlackOptions): Promise<LocalSlack> {
  return new LocalSlack(await serveSlack(options));
}

/** One workspace of a running local Slack, as tests see it: its users, what its admins do, and what an attacker would send. */
export class LocalSlack implements AsyncDisposable {
  /** Groups, accounts, channels: what admins change. */
  readonly admin: Admin;
  readonly #server: SlackServer;
  readonly #world: World;

  constructor(server: SlackServer, world = server.world) {
    this.#server = server;
    this.#world = world;
    this.admin = new Admin(world);
  }

  /** Adds another workspace, in which users can install the same app; it has namesakes of all users and channels. */
  addTeam(team: Team): LocalSlack {
    return new LocalSlack(this.#server, this.#server.addTeam(team));
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

  /** How the app is installed: its client, codes and tokens. */
  get oauth(): OAuth {
    return this.#world.oauth;
  }

  get team(): Team {
    return this.#world.team;
  }

  get faults(): Faults {
    return this.#world.faults;
  }

  /** The app's WebSockets in Socket Mode: they can be counted, refreshed and broken. */
  get sockets(): SocketConnections {
    return this.#world.sockets;
  }

  /** A user of the workspace, in `#ops` unless `in` says otherwise; `admin.addUser` makes more. */
  as(who: UserName | User): Persona {
    return new Persona(this.#world, this.#user(who), '#ops');
  }

  /** Finds a channel by `#name` or id; its `members` may be changed. */
  channel(nameOrId: string): Channel | undefined {
    return findChannel(this.#world.channels, nameOrId);
  }

  /** Everything that was posted and is still there, ephemeral messages included. */
  messages(): readonly StoredMessage[] {
    return this.#world.messages.all();
  }

  onEvent(listener: SlackListener): () => void {
    return this.#world.journal.onEvent(listener);
  }

  traffic(): readonly TrafficEntry[] {
    return this.#world.journal.traffic();
  }

  /** Everything that a good app never does, as it was done. */
  brokenRules(): readonly BrokenRule[] {
    return this.#world.journal.brokenRules();
  }

  /** All requests to the app, unmasked, oldest first. */
  deliveries(): readonly Delivery[] {
    return this.#world.deliverer.list();
  }

  /** The names that the app's present messages notify. */
  pings(): readonly string[] {
    return this.#world.messages
      .all()
      .filter((message) => message.user === APP.botUserId)
      .flatMap((message) => findPings(message, this.#world));
  }

  /** The last request to the app whose kind or body has these words. */
  lastDelivery(words: string): Delivery {
    const has = ({ what, body }: Delivery) => what.includes(words) || body.includes(words);
    const found = this.deliveries().findLast(has);
    if (!found) throw new Error(`nothing like ${words} was delivered`);
    return found;
  }

  /** Sends the identical signed request again, as an attacker would; in Socket Mode, the identical envelope. */
  redeliver(delivery: Delivery | undefined): Promise<Delivery> {
    if (!delivery) throw new Error('nothing was delivered');
    return this.#world.deliverer.sendAgain(delivery);
  }

  /** The fields of a genuine command, to be altered and delivered below. */
  commandFields(who: UserName | User, channelName: string, text: string): Record<string, string> {
    const user = this.#user(who);
    const channel = findChannel(this.#world.channels, channelName, user.id);
    if (!channel) throw new Error(`There is no channel ${channelName}`);
    return commandFields(this.#world, user, channel, text);
  }

  /** Delivers fields (a command) or a payload (an interaction) with a good signature; a command's user sees what its ack says. */
  async deliverSigned(content: DeliveryContent): Promise<Delivery> {
    const delivery = await this.deliverBody('form', formOf(content));
    if ('fields' in content) showAck(this.#world, content.fields, delivery);
    return delivery;
  }

  /** Delivers any body with a good signature, or in an envelope: a form, or the JSON of an event. */
  deliverBody(kind: DeliveryKind, body: string): Promise<Delivery> {
    return this.#world.deliverer.send('made up', kind, body);
  }

  /** Delivers what was delivered before with an attacker's changes, well signed; nothing of the answer shows. */
  deliverAltered(delivery: Delivery, change: (content: Json) => Json): Promise<Delivery> {
    const fields = Object.fromEntries(new URLSearchParams(delivery.body));
    const payload = fields.payload === undefined ? undefined : readJson(fields.payload);
    if (isJson(payload)) return this.deliverBody('form', formOf({ payload: change(payload) }));
    const changed = Object.entries(change(fields)).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]);
    return this.deliverBody('form', formOf({ fields: Object.fromEntries(changed) }));
  }

  /** The same as `deliverSigned`, signed with another secret. */
  deliverForged(content: DeliveryContent): Promise<Delivery> {
    const body = formOf(content);
    const timestamp = String(Math.floor(Date.now() / 1000));
    return this.deliverRaw(body, { timestamp, signature: signBody('not the secret', timestamp, body) });
  }

  /** Delivers a body with any headers; without a signature none is sent. */
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

  /** Delivers a body that is signed so many seconds from now. */
  deliverAt(seconds: number, body: string, contentType?: string): Promise<Delivery> {
    const timestamp = String(Math.floor(Date.now() / 1000) + seconds);
    const signed = { timestamp, signature: this.sign(body, timestamp) };
    return this.deliverRaw(body, contentType === undefined ? signed : { ...signed, contentType });
  }

  /** The right signature of a body, for `deliverRaw`. */
  sign(body: string, timestampSeconds: number | string): string {
    return signBody(this.#world.app.signingSecret, timestampSeconds, body);
  }

  /** Another app posts a message, such as an alert; gives its ts. An alert has attachments, and often no text. */
  async posts(
    channelName: string,
    message: Partial<Pick<MessageDraft, 'text' | 'blocks' | 'attachments' | 'threadTs'>>,
  ): Promise<string> {
    const channel = this.#world.channels.find(
      ({ name, kind }) => `#${name}` === channelName && kind !== 'dm',
    );
    if (!channel) throw new Error(`There is no channel ${channelName}`);
    const draft = { channel: channel.id, user: OTHER_BOT.id, text: '', ...message };
    const posted = this.#world.messages.post(draft);
    await sendPosted(this.#world, posted);
    return posted.ts;
  }

  /** A user runs a workflow that has one step of the app, with these inputs. */
  runsWorkflow(stepId: string, inputs: Json) {
    return runWorkflow(this.#world, stepId, inputs);
  }

  /** Sends an event of the Events API, if the app subscribes to it: `{ type: 'app_uninstalled' }`. */
  sendEvent(event: Json): Promise<Delivery | undefined> {
    return sendEvent(this.#world, event);
  }

  /** An admin removes the app from the workspace, or from its organization: its tokens no longer work. */
  uninstallApp(): Promise<Delivery | undefined> {
    return sendUninstalled(this.#world, revokeTokens(this.#world, 'account_inactive'));
  }

  stop(): Promise<void> {
    return this.#server.stop();
  }

  #user(who: UserName | User): User {
    const user = this.#world.roster.findUser(typeof who === 'string' ? who : who.id);
    if (!user) throw new Error('That person was never added to the workspace');
    return user;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

/** A command's fields, or an interaction's payload. */
type DeliveryContent = { readonly fields: Readonly<Record<string, string>> } | { readonly payload: Json };

/** The body of a form with this content. */
function formOf(content: DeliveryContent): string {
  const fields = 'fields' in content ? content.fields : { payload: JSON.stringify(content.payload) };
  return new URLSearchParams(fields).toString();
}

/** A user who joins; fields that are left out are those of a plain member. */
type NewUser = Pick<User, 'id' | 'name'> & Partial<User>;

/** What the admins of the workspace do, for tests. Open pages show it immediately. */
export class Admin {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  /** A user group by `@handle` or id; its `users` and `isDisabled` may be changed. */
  group(handleOrId: string): UserGroup {
    const group = this.#world.roster.findGroup(handleOrId);
    if (!group) throw new Error(`There is no user group ${handleOrId}`);
    return group;
  }

  /** Adds a user (a `W…` ID is possible) to these channels and to a conversation with the app. */
  addUser(newUser: NewUser, channels: readonly string[] = ['#general', '#ops']): User {
    const user: User = { ...this.#getUser('nora'), realName: newUser.name, ...newUser };
    this.#world.roster.put(user);
    for (const name of channels) this.channel(name).members.add(user.id);
    if (!user.isBot && !user.isExternal) this.#world.channels.push(conversationWith(user.id));
    this.#notifyPages();
    return user;
  }

  /** Makes a user a guest, an admin … from now on. */
  changeUser(nameOrId: string, change: Partial<Omit<User, 'id'>>): User {
    const user = { ...this.#getUser(nameOrId), ...change };
    this.#world.roster.put(user);
    this.#notifyPages();
    return user;
  }

  /** Deactivates a user: removes them from all channels and groups, and closes their modals. */
  deactivate(nameOrId: string): void {
    const { id } = this.changeUser(nameOrId, { isDeactivated: true });
    this.#world.roster.leaveGroups(id);
    this.#world.messages.forgetEphemeralsOf(id);
    const top = this.#world.views.stackOf(id).at(-1);
    if (top) this.#world.views.close(top, true);
    for (const channel of this.#world.channels) channel.members.delete(id);
    this.#notifyPages();
  }

  /** A channel by `#name` or ID, active or archived. */
  channel(nameOrId: string): Channel {
    const channel = findChannel(this.#world.channels, nameOrId);
    if (!channel) throw new Error(`There is no channel ${nameOrId}`);
    return channel;
  }

  /** Archives a channel: it is read-only and gone from the sidebar. */
  archive(nameOrId: string): void {
    this.channel(nameOrId).isArchived = true;
    this.#notifyPages();
  }

  unarchive(nameOrId: string): void {
    this.channel(nameOrId).isArchived = false;
    this.#notifyPages();
  }

  /** Invites another organization into a channel; until it accepts, the channel is not shared yet. */
  inviteOrganization(nameOrId: string): void {
    this.channel(nameOrId).isPendingShared = true;
  }

  /** Deletes a channel with everything in it; its ID is unknown from then on. */
  deleteChannel(nameOrId: string): void {
    const channel = this.channel(nameOrId);
    this.#world.channels.splice(this.#world.channels.indexOf(channel), 1);
    this.#world.messages.forgetChannel(channel.id);
    this.#notifyPages();
  }

  /** Deletes a message for everyone, as a user who may do that in the workspace. */
  deleteMessage(nameOrId: string, ts: string): void {
    const message = this.#world.messages.find(this.channel(nameOrId).id, ts);
    if (!message) throw new Error(`There is no message ${ts} in ${nameOrId}`);
    this.#world.messages.remove(message);
  }

  /** Puts the workspace into an Enterprise Grid organization: payloads and answers say so from now on. */
  joinGrid(grid: Partial<Grid> = {}): void {
    this.#world.grid = { id: 'E0SANDBOX', name: 'Sandbox Group', isOrgInstall: false, ...grid };
  }

  #getUser(nameOrId: string): User {
    const user = this.#world.roster.findUser(nameOrId);
    if (!user) throw new Error(`There is no user ${nameOrId}`);
    return user;
  }

  #notifyPages(): void {
    this.#world.journal.emit({ type: 'workspace' });
  }
}
