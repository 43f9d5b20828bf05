import {
  type Channel,
  conversationWith,
  findChannel,
  type User,
  type UserGroup,
} from '../../../src/sandbox/slack/workspace.ts';
import type { Grid, World } from '../../../src/sandbox/slack/world.ts';

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
