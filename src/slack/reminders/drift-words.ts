import type { KnownBlock } from '@slack/types';
import type { Drift, ExpiredServer, NamedServer } from '../../domain/digest.ts';
import { context, section } from '../kit/blocks.ts';
import { plainState } from '../kit/server-state.ts';
import { describeNumber, escapeText, mention, slackDate } from '../kit/text.ts';
import { digestLabel } from './due-words.ts';
import { listNames, type Room, splitLines } from './many.ts';

/** The last word on servers whose paid time has ended. */
export function expiredBlocks(expired: readonly ExpiredServer[]): KnownBlock[] {
  if (expired.length === 0) return [];
  return listBlocks('*Paid time ended*', expired.map(expiredWords), { sections: 1, characters: 1500 });
}

function expiredWords({ label, paidUntil, leftBy, isListed }: ExpiredServer): string {
  const who = leftBy === undefined ? '' : ` · ${mention(leftBy)} let it expire`;
  const gone = isListed ? '' : ' · no longer in the hosting account';
  return `⚪ ${digestLabel(label)} · ${slackDate(paidUntil)}${who}${gone}`;
}

/** A list of names takes one of them at most, so only changes of state may be left out. */
const DRIFT_ROOM = { sections: 2, characters: 1200 };

/** What changed without this app, or through another workspace. */
export function driftBlocks({ appeared, vanished, changed }: Drift): KnownBlock[] {
  if (appeared.length + vanished.length + changed.length === 0) return [];
  const states = changed.map(
    ({ label, before, now }) => `• ${digestLabel(label)}: ${state(before)} → ${state(now)}`,
  );
  return listBlocks(
    '*Changed outside this workspace since the last digest*',
    [
      ...(appeared.length > 0 ? [`• New: ${namesOf(appeared)}`] : []),
      ...(vanished.length > 0 ? [`• No longer in the hosting account: ${namesOf(vanished)}`] : []),
      ...states,
    ],
    DRIFT_ROOM,
  );
}

function listBlocks(title: string, lines: readonly string[], room: Room): KnownBlock[] {
  const { sections, omitted } = splitLines(lines, room);
  return [
    ...sections.map((text, at) => section(at === 0 ? `${title}\n${text}` : text)),
    ...(omitted > 0 ? [context(`…and ${describeNumber(omitted)} more.`)] : []),
  ];
}

function namesOf(servers: readonly NamedServer[]): string {
  return listNames(servers.map(({ label }) => digestLabel(label)));
}

function state(word: string): string {
  return escapeText(plainState({ state: word }));
}
