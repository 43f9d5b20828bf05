import type { KnownBlock } from '@slack/types';
import type { Home } from '../../app/home/read-home.ts';
import { type Role, roleCovers } from '../../domain/actor.ts';
import { labelOf, type Operation } from '../../domain/operation.ts';
import { answerRows } from '../access/access-request-card.ts';
import { describeRequest, describeWantedRole } from '../access/access-words.ts';
import { withdrawAccessButton } from '../access/buttons.ts';
import { frozenWords } from '../account/frozen-words.ts';
import { waitingBlocks } from '../approvals/approval-card.ts';
import { context, header, section } from '../kit/blocks.ts';
import { codeLabel, count, plainLabel, slackDate } from '../kit/text.ts';
import { decideButton, passwordButton } from '../purchases/buttons.ts';

/** A view has room for this many of each; the rest are only counted. */
const SHOWN = { passwords: 4, approvals: 4, access: 3, orders: 4, own: 3 } as const;

type Attention = Pick<Home, 'unsaved' | 'decisions' | 'open' | 'freeze' | 'needsInstall' | 'role'>;

/** What needs this user's attention: unsaved passwords, pending decisions and unconfirmed orders. */
export function attentionBlocks(home: Attention, currency: string): KnownBlock[] {
  const blocks = [
    ...(home.needsInstall ? [section(NEEDS_INSTALL)] : []),
    ...(home.freeze ? [section(frozenWords({ frozenBy: home.freeze.by, since: home.freeze.since }))] : []),
    ...unsavedBlocks(home.unsaved),
    ...decisionBlocks(home.decisions, currency),
    ...orderBlocks(home.open, home.role),
  ];
  return blocks.length === 0 ? [] : [header('Needs your attention'), ...blocks];
}

const NEEDS_INSTALL =
  '🔴 Slack won’t renew this app’s token, so it will stop working within hours. Install the app again.';

function unsavedBlocks(unsaved: Attention['unsaved']): KnownBlock[] {
  const lines = unsaved
    .slice(0, SHOWN.passwords)
    .map(({ id, label }) =>
      section(
        `🔑 The root password of ${codeLabel(label, 40)} isn’t saved yet.`,
        passwordButton.element(
          'Show password',
          { typed: String(id) },
          { label: `Show the root password of ${plainLabel(label, 40)}` },
        ),
      ),
    );
  return [...lines, ...rest(unsaved.length - lines.length, 'more unsaved root password', '/vps password')];
}

function decisionBlocks({ approvals, access }: Attention['decisions'], currency: string): KnownBlock[] {
  const shown = approvals.slice(0, SHOWN.approvals);
  const asked = access.slice(0, SHOWN.access);
  return [
    ...shown.flatMap((approval) => waitingBlocks({ approval, canAnswer: true, isOwn: false }, currency)),
    ...rest(approvals.length - shown.length, 'more approval', '/vps status'),
    ...asked.flatMap((request) => [section(describeRequest(request)), ...answerRows(request.id)]),
    ...rest(access.length - asked.length, 'more role request', '/vps access'),
  ];
}

function orderBlocks(open: readonly Operation[], role: Role | undefined): KnownBlock[] {
  const shown = open.slice(0, SHOWN.orders);
  return [
    ...shown.map((operation) => {
      const { id, purchase, needsDecision, createdAt } = operation;
      const doing = purchase.kind === 'create' ? 'creating' : 'renewing';
      const stands = needsDecision ? 'needs a decision' : 'not confirmed yet';
      const name = labelOf(purchase);
      const words = `🟡 ${codeLabel(name, 40)} · ${doing}, ${stands} (since ${slackDate(createdAt)})`;
      if (!needsDecision || !roleCovers(role, 'manager')) return section(words);
      const label = `Decide about ${plainLabel(name, 40)}`;
      return section(words, decideButton.element('Decide…', { operationId: id }, { label }));
    }),
    ...rest(open.length - shown.length, 'more unconfirmed order', '/vps status'),
  ];
}

/** This user's own requests that are still pending. */
export function ownBlocks({ approvals, access }: Home['own'], currency: string): KnownBlock[] {
  const shown = approvals.slice(0, SHOWN.own);
  const asked = access.slice(0, SHOWN.own);
  const blocks = [
    ...shown.flatMap((approval) => waitingBlocks({ approval, canAnswer: false, isOwn: true }, currency)),
    ...asked.map((request) =>
      section(
        `You requested the ${describeWantedRole(request)}. Expires ${slackDate(request.expiresAt)}.`,
        withdrawAccessButton.element('Withdraw request', { id: request.id }),
      ),
    ),
    ...rest(approvals.length + access.length - shown.length - asked.length, 'more request', '/vps status'),
  ];
  return blocks.length === 0 ? [] : [header('Your requests'), ...blocks];
}

function rest(amount: number, noun: string, command: string): KnownBlock[] {
  return amount > 0 ? [context(`${count(amount, noun)}: see \`${command}\`.`)] : [];
}
