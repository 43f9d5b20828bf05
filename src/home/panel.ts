import type { KnownBlock } from '@slack/types';
import { settingsButton } from '../account/settings.ts';
import { type Role, roleCovers } from '../core/roles.ts';
import { createButton } from '../purchases/catalog.ts';
import { listButton, manageChoice, showButton } from '../servers/buttons.ts';
import { noServersWords, serverLine } from '../servers/words.ts';
import { actions, context, type Message, section } from '../slack/kit/blocks.ts';
import { describeNumber, plainLabel } from '../slack/kit/text.ts';
import type { SlackRequest } from '../slack/request.ts';
import { wordsOfError } from '../words.ts';
import {
  cautions,
  decisionBlocks,
  HELP,
  noRoleBlocks,
  orderBlocks,
  ROLE_UNKNOWN,
  setupBlocks,
  unsavedBlocks,
} from './home.ts';
import { type Home, type ListedServers, readHome } from './read-home.ts';

/** Answers a bare `/vps` with the control panel: what Home shows, in a message that fits on a phone. */
export async function showPanel(request: SlackRequest): Promise<void> {
  const home = await request.execute(readHome, { page: 0, isPatient: true, isPanel: true });
  await request.reply.send(panelMessage(home, request));
}

interface Rendering {
  readonly currency: string;
  readonly accountUrl: string | undefined;
  now(): number;
}

export function panelMessage(home: Home, rendering: Rendering): Message {
  const blocks = [
    ...unsavedBlocks(home.unsaved),
    ...decisionBlocks(home.decisions, rendering.currency),
    ...orderBlocks(home.open, home.role),
    ...serverBlocks(home, rendering),
    context(HELP),
  ];
  return { text: 'Your servers', blocks };
}

function serverBlocks(home: Home, { now, currency, accountUrl }: Rendering): KnownBlock[] {
  const { servers, role, own } = home;
  const tryAgain = actions(listButton.element('Try again', {}));
  switch (servers.kind) {
    case 'no_role':
      return noRoleBlocks(own.access.length > 0);
    case 'role_unknown':
      return [section(ROLE_UNKNOWN)];
    case 'not_connected':
      return setupBlocks(role === 'owner', servers.error, accountUrl);
    case 'unread':
      return [...(servers.error ? [section(wordsOfError(servers.error, currency))] : []), tryAgain];
    case 'listed':
      return [...cautions(servers, currency), ...listed(servers, role, now())];
  }
}

function listed(servers: ListedServers, role: Role | undefined, now: number): KnownBlock[] {
  const { shown, total } = servers;
  const create = roleCovers(role, 'manager') ? [createButton.element('Create a server…', {})] : [];
  const settings = roleCovers(role, 'owner') ? [settingsButton.element('Settings…', {})] : [];
  if (total === 0)
    return [
      section(noServersWords(servers)),
      ...(create.length > 0 ? [actions(...create, ...settings)] : []),
    ];
  const all = listButton.element('All servers', {});
  const isPart = total > shown.length;
  return [
    ...(isPart ? [actions(manageChoice.typeAhead('Find a server'))] : []),
    ...shown.map(({ server, isExpiring }) =>
      section(
        serverLine(server, now, isExpiring),
        showButton.element('Manage', { id: server.id }, { label: `Manage ${plainLabel(server.label, 60)}` }),
      ),
    ),
    ...(isPart ? [context(`Showing ${shown.length} of ${describeNumber(total)} servers.`)] : []),
    actions(all, ...create, ...settings),
  ];
}
