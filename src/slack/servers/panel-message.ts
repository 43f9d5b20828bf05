import type { Button, KnownBlock } from '@slack/types';
import type { Panel, PanelServer, PanelServers } from '../../app/servers/read-panel.ts';
import { roleCovers } from '../../domain/actor.ts';
import { labelOf, type Operation } from '../../domain/operation.ts';
import { requestAccessButton } from '../access/buttons.ts';
import { connectButton } from '../account/buttons.ts';
import { actions, context, type Message, section } from '../kit/blocks.ts';
import { codeLabel, count, plainLabel, slackDate } from '../kit/text.ts';
import { createButton, decideButton, passwordButton, renewButton } from '../purchases/buttons.ts';
import type { SlackRequest } from '../transport/request.ts';
import { wordsOfError } from '../words.ts';
import { approvalsButton, listButton, manageChoice, showButton } from './buttons.ts';
import { serverLine } from './describe-server.ts';
import { NO_SERVERS } from './server-list.ts';

type ListedServers = Extract<PanelServers, { kind: 'listed' }>;
type Rendering = Pick<SlackRequest, 'now' | 'currency'>;

/** The control panel: what matters to this user now, with the buttons that they may press. */
export function panelMessage(panel: Panel, { now, currency }: Rendering): Message {
  const blocks = [
    ...waitingBlocks(panel),
    ...openBlocks(panel),
    ...serverBlocks(panel, now(), currency),
    context('`/vps help` lists all commands.'),
  ];
  return { text: 'Your servers', blocks };
}

/** What waits for this user, each with its button. */
function waitingBlocks({ unsaved, approvals }: Panel): KnownBlock[] {
  const [first] = unsaved;
  const typed = unsaved.length === 1 && first ? String(first.id) : '';
  const whose = unsaved.length === 1 && first ? ` of ${codeLabel(first.label, 40)}` : 's';
  return [
    ...(first
      ? [
          section(
            `🔑 You haven’t saved the root password${whose}${unsaved.length > 1 ? ` of ${count(unsaved.length, 'server')}` : ''}.`,
            passwordButton.element('Show password', { typed }),
          ),
        ]
      : []),
    ...(approvals > 0
      ? [
          section(
            `✋ ${count(approvals, 'request')} waiting for your approval.`,
            approvalsButton.element('Review', {}),
          ),
        ]
      : []),
  ];
}

/** More are in `/vps status`. */
const OPEN_SHOWN = 3;

function openBlocks({ open, role }: Panel): KnownBlock[] {
  const shown = open.slice(0, OPEN_SHOWN);
  const rest = open.length - shown.length;
  const isManager = roleCovers(role, 'manager');
  return [
    ...shown.map((operation) => section(openWords(operation), decideElement(operation, isManager))),
    ...(rest > 0 ? [context(`${count(rest, 'more unconfirmed order')}: see \`/vps status\`.`)] : []),
  ];
}

function openWords({ purchase, needsDecision, createdAt }: Operation): string {
  const doing = purchase.kind === 'create' ? 'creating' : 'renewing';
  const stands = needsDecision ? 'needs a decision' : 'not confirmed yet';
  return `🟡 ${codeLabel(labelOf(purchase), 40)} · ${doing}, ${stands} (since ${slackDate(createdAt)})`;
}

function decideElement({ id, purchase, needsDecision }: Operation, isManager: boolean): Button | undefined {
  if (!needsDecision || !isManager) return undefined;
  const label = `Decide about ${plainLabel(labelOf(purchase), 40)}`;
  return decideButton.element('Decide…', { operationId: id }, { label });
}

function serverBlocks({ servers, role }: Panel, now: number, currency: string): KnownBlock[] {
  switch (servers.kind) {
    case 'no_role':
      return [
        section('You don’t have a role yet, so you can’t see any servers. Ask an owner for one.'),
        actions(requestAccessButton.element('Ask for access', { role: 'viewer' }, { style: 'primary' })),
      ];
    case 'not_connected':
      return notConnected(role === 'owner');
    case 'failed':
      return [section(wordsOfError(servers.error, currency)), actions(listButton.element('Try again', {}))];
    case 'listed':
      return listed(servers, roleCovers(role, 'manager'), now);
  }
}

function notConnected(isOwner: boolean): KnownBlock[] {
  if (!isOwner)
    return [section('The hosting account isn’t connected yet. An owner can do that with `/vps connect`.')];
  return [
    section(
      'To get started, connect your hosting account: create an API key on its page, then enter it in a secure form outside Slack.',
    ),
    actions(connectButton.element('Connect…', {}, { style: 'primary' })),
  ];
}

function listed({ shown, total, extent }: ListedServers, isManager: boolean, now: number): KnownBlock[] {
  const create = isManager ? [createButton.element('Create a server…', {})] : [];
  if (total === 0)
    return [
      section(extent === 'whole' ? 'There are no servers in the hosting account yet.' : NO_SERVERS),
      ...(create.length > 0 ? [actions(...create)] : []),
    ];
  const more = total > shown.length ? [context(`Showing ${shown.length} of ${count(total, 'server')}.`)] : [];
  const all = listButton.element('All servers', {});
  return [
    ...shown.map((each) => section(serverLine(each.server, now), serverElement(each))),
    ...more,
    actions(...(total > shown.length ? [manageChoice.typeAhead('Find a server')] : []), all, ...create),
  ];
}

/** A server whose paid time ends soon can be renewed at once by those who may. */
function serverElement({ server: { id, label }, role, isExpiring }: PanelServer): Button {
  const name = plainLabel(label, 60);
  if (isExpiring && roleCovers(role, 'manager'))
    return renewButton.element('Renew…', { id }, { label: `Renew ${name}` });
  return showButton.element('Manage', { id }, { label: `Manage ${name}` });
}
