import { type Channel, conversationWith, findChannel } from './channels.ts';
import type { UserGroup } from './roster.ts';
import type { User } from './workspace.ts';
import type { Grid, World } from './world.ts';

/** Somebody who joins; what is left out is as with any member of this workspace. */
export type NewUser = Pick<User, 'id' | 'name'> & Partial<User>;

/** What the admins of the workspace do, for tests. Open pages show it at once. */
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

  /** Adds somebody, with a `W…` id if you like, to these channels and to a conversation with the app. */
  addUser(newUser: NewUser, channels: readonly string[] = ['#general', '#ops']): User {
    const user: User = { ...this.#getUser('nora'), realName: newUser.name, ...newUser };
    this.#world.roster.put(user);
    for (const name of channels) this.channel(name).members.add(user.id);
    if (!user.isBot && !user.isExternal) this.#world.channels.push(conversationWith(user.id));
    this.#tell();
    return user;
  }

  /** Makes somebody a guest, an admin … from now on. */
  changeUser(nameOrId: string, change: Partial<Omit<User, 'id'>>): User {
    const user = { ...this.#getUser(nameOrId), ...change };
    this.#world.roster.put(user);
    this.#tell();
    return user;
  }

  /** Switches an account off: whoever it was is out of all channels and groups, and can do nothing more. */
  deactivate(nameOrId: string): void {
    const { id } = this.changeUser(nameOrId, { isDeactivated: true });
    this.#world.roster.leaveGroups(id);
    this.#world.messages.forgetEphemeralsOf(id);
    const top = this.#world.views.stackOf(id).at(-1);
    if (top) this.#world.views.close(top, true);
    for (const channel of this.#world.channels) channel.members.delete(id);
    this.#tell();
  }

  /** A channel by `#name` or id, there or archived. */
  channel(nameOrId: string): Channel {
    const channel = findChannel(this.#world.channels, nameOrId);
    if (!channel) throw new Error(`There is no channel ${nameOrId}`);
    return channel;
  }

  /** Archives a channel: nobody can post there, and it is gone from the sidebar. */
  archive(nameOrId: string): void {
    this.channel(nameOrId).isArchived = true;
    this.#tell();
  }

  unarchive(nameOrId: string): void {
    this.channel(nameOrId).isArchived = false;
    this.#tell();
  }

  /** Deletes a channel with everything in it; its id means nothing any more. */
  deleteChannel(nameOrId: string): void {
    const channel = this.channel(nameOrId);
    this.#world.channels.splice(this.#world.channels.indexOf(channel), 1);
    this.#world.messages.forgetChannel(channel.id);
    this.#tell();
  }

  /** Puts the workspace into an Enterprise Grid organisation: payloads and answers say so from now on. */
  joinGrid(grid: Partial<Grid> = {}): void {
    this.#world.grid = { id: 'E0SANDBOX', name: 'Sandbox Group', isOrgInstall: false, ...grid };
  }

  #getUser(nameOrId: string): User {
    const user = this.#world.roster.findUser(nameOrId);
    if (!user) throw new Error(`There is no user ${nameOrId}`);
    return user;
  }

  #tell(): void {
    this.#world.journal.emit({ type: 'workspace' });
  }
}
