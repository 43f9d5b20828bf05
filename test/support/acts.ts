import type { Persona } from './slack/persona.ts';
import type { Team } from './team.ts';

// What users do on the way to what a story is about.

/** The command that opens the review of a small server. */
export const orderOf = (label: string) =>
  `/vps create plan=small location=ams image=debian-13 label=${label}`;

/** Asks for the page that takes the API key; gives its address at the app. */
export async function askForLink({ slack, appUrl }: Pick<Team, 'slack' | 'appUrl'>): Promise<string> {
  const owner = slack.as('olga').in('#ops').overlooksOldMessages();
  await owner.types('/vps connect');
  await owner.sees('Enter the API key');
  const link = owner.links().find((address) => address.includes('/connect/')) ?? '';
  return `${appUrl}${new URL(link).pathname}`;
}

/** Orders a server, and closes the form once it says that the server is there. */
export async function createServer(user: Persona, label = 'web-1'): Promise<void> {
  await user.types(orderOf(label));
  await user.presses('Create and pay');
  await user.sees(`${label} is being created (`);
  await user.closes();
}

/** The root password that a server was made with. */
export function passwordOf({ hosting, account }: Pick<Team, 'hosting' | 'account'>, label = 'web-1'): string {
  const made = hosting.listServers(account).find((server) => server.label === label);
  return hosting.passwordOf(made?.id ?? 0) ?? 'none was made';
}

/** Renews a server, and closes the form once it says so. */
export async function renewServer(user: Persona, label = 'web-1'): Promise<void> {
  await user.types(`/vps renew ${label}`);
  await user.presses('Renew and pay');
  await user.sees(`${label} was renewed for a month`);
  await user.closes();
}

/** Fills the form that deletes a server, up to the last press. */
export async function fillDelete(user: Persona, label = 'web-1'): Promise<void> {
  await user.types(`/vps delete ${label}`);
  await user.fills({ [`To confirm, type ${label}`]: label });
}

/** Deletes a server, and closes the form once it says so. */
export async function deleteServer(user: Persona, label = 'web-1'): Promise<void> {
  await fillDelete(user, label);
  await user.presses('Delete');
  await user.sees(`${label} was deleted.`);
  await user.closes();
}

/** Requests a role. What comes of it is for the caller to see. */
export async function askForRole(user: Persona, wish: string, reason = 'on call'): Promise<void> {
  await user.types(`/vps access ask ${wish}`);
  await user.fills({ 'Why do you need it?': reason });
  await user.presses('Send request');
}
