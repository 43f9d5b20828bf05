import { ALL_USERS, idIn, TEAM, type Team, USERGROUPS, type User } from './workspace.ts';

/** A user group: `@oncall`. Tests may change who is in it, and switch it off. */
export interface UserGroup {
  readonly id: string;
  /** Without the @. */
  readonly handle: string;
  readonly name: string;
  /** Person ids. */
  readonly users: Set<string>;
  isDisabled: boolean;
}

/** The namesake of a user in another workspace. */
function userIn(team: Team, user: User): User {
  return { ...user, id: idIn(team, user.id), teamId: user.teamId === TEAM.id ? team.id : user.teamId };
}

/** Who is in the workspace, and in which user groups. */
export class Roster {
  readonly #people: Map<string, User>;
  readonly #groups: readonly UserGroup[];
  #edition = 0;

  constructor(team: Team = TEAM) {
    this.#people = new Map(ALL_USERS.map((user) => userIn(team, user)).map((user) => [user.id, user]));
    this.#groups = USERGROUPS.map((group) => ({
      ...group,
      id: idIn(team, group.id),
      users: new Set(group.users.map((id) => idIn(team, id))),
      isDisabled: false,
    }));
  }

  /** Grows with every change of a user: names on a rendered screen may be others then. */
  get edition(): number {
    return this.#edition;
  }

  people(): readonly User[] {
    return [...this.#people.values()];
  }

  groups(): readonly UserGroup[] {
    return this.#groups;
  }

  /** Finds a user by Slack ID or handle, deactivated ones included. */
  findUser(idOrName: string): User | undefined {
    return this.#people.get(idOrName) ?? this.people().find((user) => user.name === idOrName);
  }

  /** Finds a group by id or by handle, disabled ones among them. */
  findGroup(idOrHandle: string): UserGroup | undefined {
    const handle = idOrHandle.replace(/^@/, '');
    return this.#groups.find((group) => group.id === idOrHandle || group.handle === handle);
  }

  /** Adds a user, or replaces the one with the same ID. */
  put(user: User): void {
    this.#people.set(user.id, user);
    this.#edition += 1;
  }

  /** Removes a user from all groups, as Slack does when a user is deactivated. */
  leaveGroups(userId: string): void {
    for (const group of this.#groups) group.users.delete(userId);
  }
}
