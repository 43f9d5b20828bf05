import { EVERYBODY, type Person, USERGROUPS } from './workspace.ts';

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

/** Who is in the workspace, and in which user groups. */
export class Roster {
  readonly #people = new Map<string, Person>(EVERYBODY.map((person) => [person.id, person]));
  readonly #groups: readonly UserGroup[] = USERGROUPS.map((group) => ({
    ...group,
    users: new Set(group.users),
    isDisabled: false,
  }));

  people(): readonly Person[] {
    return [...this.#people.values()];
  }

  groups(): readonly UserGroup[] {
    return this.#groups;
  }

  /** Finds somebody by Slack id or by name, deactivated people among them. */
  findPerson(idOrName: string): Person | undefined {
    return this.#people.get(idOrName) ?? this.people().find((person) => person.name === idOrName);
  }

  /** Finds a group by id or by handle, disabled ones among them. */
  findGroup(idOrHandle: string): UserGroup | undefined {
    const handle = idOrHandle.replace(/^@/, '');
    return this.#groups.find((group) => group.id === idOrHandle || group.handle === handle);
  }

  /** Adds somebody, or puts them in the place of whoever had that id. */
  put(person: Person): void {
    this.#people.set(person.id, person);
  }

  /** Takes somebody out of all groups, as Slack does with whoever is deactivated. */
  leaveGroups(personId: string): void {
    for (const group of this.#groups) group.users.delete(personId);
  }
}
