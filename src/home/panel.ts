import type { KnownBlock } from '@slack/types';
import { z } from 'zod';
import { settingsButton } from '../account/settings.ts';
import { type Role, roleCovers } from '../core/roles.ts';
import { createButton } from '../purchases/catalog.ts';
import { readDecidable } from '../requests/approval.ts';
import { waitingBlocks } from '../requests/approval-card.ts';
import { listButton, manageChoice, showButton } from '../servers/buttons.ts';
import { NO_SERVERS, serverLine } from '../servers/words.ts';
import { actions, context, type Message, section, textMessage } from '../slack/kit/blocks.ts';
import { defineButton } from '../slack/kit/button.ts';
import type { Handlers } from '../slack/kit/command.ts';
import { count, describeNumber, plainLabel } from '../slack/kit/text.ts';
import type { SlackRequest } from '../slack/request.ts';
import { wordsOfError } from '../words.ts';
import { cautions, noRoleBlocks, orderBlocks, ROLE_UNKNOWN, setupBlocks, unsavedBlocks } from './home.ts';
import { type Home, type ListedServers, readHome } from './read-home.ts';

/** Answers a bare `/vps` with the control panel: what Home shows, in a message that fits on a phone. */
export async function showPanel(request: SlackRequest): Promise<void> {
  const home = await request.execute(readHome, { page: 0, isPatient: true, isPanel: true });
  await request.reply.send(panelMessage(home, request));
}

/** Few enough for the 50 blocks of a message. */
const APPROVALS_SHOWN = 10;

const approvalsButton = defineButton('approvals', z.object({}));

/** Shows what the control panel only counts. */
const reviewApprovals = approvalsButton.on(async (_value, request) => {
  const pending = await request.execute(readDecidable, {});
  const shown = pending.slice(0, APPROVALS_SHOWN);
  const words =
    pending.length === 0
      ? 'No approvals are waiting for you.'
      : `*Waiting for your approval*${pending.length > shown.length ? ` (the oldest ${shown.length} of ${pending.length})` : ''}`;
  const each = shown.flatMap((approval) => waitingBlocks(approval, 'decider', request.currency));
  await request.reply.send(textMessage(words, ...each));
});

/** The buttons of the control panel that belong to no other feature. */
export const panel: Handlers = { actions: [reviewApprovals], modals: [], suggestions: [] };

interface Rendering {
  readonly currency: string;
  readonly accountUrl: string | undefined;
  now(): number;
}

export function panelMessage(home: Home, rendering: Rendering): Message {
  const approvals = home.decisions.approvals.length;
  const review = approvalsButton.element('Review', {});
  const blocks = [
    ...unsavedBlocks(home.unsaved),
    ...(approvals > 0
      ? [section(`✋ ${count(approvals, 'request')} waiting for your approval.`, review)]
      : []),
    ...orderBlocks(home.open, home.role),
    ...serverBlocks(home, rendering),
    context('`/vps help` shows what else you can do.'),
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

function listed(
  { shown, total, isComplete }: ListedServers,
  role: Role | undefined,
  now: number,
): KnownBlock[] {
  const create = roleCovers(role, 'manager') ? [createButton.element('Create a server…', {})] : [];
  const settings = roleCovers(role, 'owner') ? [settingsButton.element('Settings…', {})] : [];
  if (total === 0)
    return [
      section(isComplete ? 'There are no servers in the hosting account yet.' : NO_SERVERS),
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
