import type { Admission, RequestPlace } from '../../app/installations/ports.ts';
import { DatabaseUnreachable } from '../../domain/database-unreachable.ts';
import { textMessage } from '../kit/blocks.ts';
import { escapeText } from '../kit/text.ts';
import { type ExplainParts, explainError } from './explain-error.ts';
import type { Reply } from './request.ts';

/** Decides whether a request from there is handled at all, before anything else is looked at. */
export type Admit = (place: RequestPlace) => Promise<Admission>;

/** What a request is admitted with. */
export interface AdmissionParts {
  /** Absent where the app serves one workspace: then the entry refuses all others, which is audited. */
  readonly admit?: Admit | undefined;
  readonly publicUrl: string | undefined;
}

/** Why a request from there is not handled, in escaped mrkdwn; undefined if it is. Nothing is audited, since no one could read it there. */
export async function describeRefusedPlace(
  place: RequestPlace,
  { admit, publicUrl }: AdmissionParts,
): Promise<string | undefined> {
  const admission = (await admit?.(place)) ?? 'served';
  if (admission === 'served') return undefined;
  return WORDS[admission](`<${escapeText(`${publicUrl}/slack/install`)}|Install it>`);
}

const WORDS: Readonly<Record<Exclude<Admission, 'served'>, (install: string) => string>> = {
  not_installed: (install) => `vps isn’t installed in this workspace. ${install}, then try again.`,
  refused: (install) =>
    `Slack no longer accepts this app’s token, so vps can’t do anything here. ${install} again.`,
  not_allowed: () => 'This workspace may not use this app. Ask the person who runs the app to allow it.',
  no_workspace: () =>
    'Slack didn’t say which workspace this is about, so nothing was done. Run the command again.',
  unknown: () => 'Slack didn’t say whether vps is installed in this workspace. Try again in a minute.',
};

/** The same; if only the database could tell and can't be reached, it says so. `hasBegun` is as in `explainError`. */
export function describeRefusal(
  place: RequestPlace,
  parts: AdmissionParts & ExplainParts,
  hasBegun: boolean | undefined,
): Promise<string | undefined> {
  return describeRefusedPlace(place, parts).catch((error: unknown) => {
    if (!(error instanceof DatabaseUnreachable)) throw error;
    return explainError(error, { ...parts, currency: '', hasBegun });
  });
}

/** Answers a request from a place that is not served, as far as that works without its token. */
export async function isRefused(
  place: RequestPlace,
  reply: Reply,
  parts: AdmissionParts & ExplainParts,
  { hasBegun }: { readonly hasBegun: boolean | undefined },
): Promise<boolean> {
  const words = await describeRefusal(place, parts, hasBegun);
  if (words !== undefined) await reply.send(textMessage(words));
  return words !== undefined;
}
