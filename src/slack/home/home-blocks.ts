import type { KnownBlock } from '@slack/types';
import type { Home } from '../../app/home/read-home.ts';
import { connectButton } from '../account/buttons.ts';
import { actions, context, divider, header, section } from '../kit/blocks.ts';
import { escapeText } from '../kit/text.ts';
import { costsSummary } from '../purchases/costs-message.ts';
import { paidWords } from '../purchases/costs-words.ts';
import { attentionBlocks, ownBlocks } from './attention.ts';
import { accountWords, serverBlocks } from './server-rows.ts';

interface Rendering {
  readonly now: number;
  readonly currency: string;
  readonly accountUrl: string | undefined;
  /** The user has never opened Home before. */
  readonly isWelcome: boolean;
}

/** All of Home for one user. */
export function homeBlocks(home: Home, { now, currency, accountUrl, isWelcome }: Rendering): KnownBlock[] {
  const { servers, role } = home;
  const hasRole = servers.kind !== 'no_role' && servers.kind !== 'role_unknown';
  const first = [
    ...(isWelcome ? welcomeBlocks(hasRole) : []),
    ...(servers.kind === 'not_connected' ? setupBlocks(role === 'owner', accountUrl) : []),
    ...attentionBlocks(home, currency),
    ...ownBlocks(home.own, currency),
  ];
  return [
    ...first,
    ...(servers.kind === 'listed' && first.length > 0 ? [divider()] : []),
    ...serverBlocks(servers, { now, currency, role, hasAsked: home.own.access.length > 0 }),
    ...spendingBlocks(home, currency),
    ...(hasRole ? [context(footer(home))] : []),
  ];
}

function welcomeBlocks(hasRole: boolean): KnownBlock[] {
  const words = hasRole
    ? 'This tab shows your servers, what needs your attention, and spending. You can also type `/vps` in any channel.'
    : 'With this app, your team runs its virtual servers from Slack.';
  return [header('Welcome to vps'), section(words)];
}

/** The first steps for an owner; everyone else learns who can connect the account. */
function setupBlocks(isOwner: boolean, accountUrl: string | undefined): KnownBlock[] {
  if (!isOwner)
    return [
      header('Not connected yet'),
      section('The hosting account isn’t connected yet. An owner can do that with `/vps connect`.'),
    ];
  const page = accountUrl === undefined ? 'API keys page' : `<${escapeText(accountUrl)}|account page>`;
  return [
    header('Get started'),
    section(
      `*1. Connect your hosting account.* Create an API key on its ${page}, then enter it in a secure form outside Slack.`,
    ),
    actions(connectButton.element('Connect…', {}, { style: 'primary' })),
    section(
      '*2. Invite the app* to the channels where your team works: `/invite @vps`\n*3. Give your team access:* `/vps access grant @user operator`',
    ),
  ];
}

function spendingBlocks({ spending, servers }: Home, currency: string): KnownBlock[] {
  if (!spending || servers.kind === 'not_connected') return [];
  const { paid, costs } = spending;
  const blocks = costs ? costsSummary(costs, currency) : [section(paidWords(paid, currency))];
  return [divider(), header('Spending'), ...blocks];
}

function footer({ servers }: Home): string {
  const account = accountWords(servers);
  return [...(account === undefined ? [] : [account]), '`/vps help` lists all commands.'].join(' · ');
}
