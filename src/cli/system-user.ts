import { userInfo } from 'node:os';

/** Who runs this program on the machine, for the audit: "ann", "ann as root" with sudo, or a number where there is no name. */
export function findSystemUser(environment: Readonly<Record<string, string | undefined>>): string {
  const name = nameOfUser();
  const { SUDO_USER: by } = environment;
  // Other users could set the variable themselves.
  return process.getuid?.() === 0 && by !== undefined && by !== name ? `${by} as ${name}` : name;
}

function nameOfUser(): string {
  try {
    return userInfo().username;
  } catch {
    // In a container the user may have no name.
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}
