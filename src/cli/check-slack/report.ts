import type { Secret } from '../../domain/secret.ts';

/** How a check ended. Only what failed has to be fixed; a warning says what doesn't work or can't be checked. */
export type Status = 'ok' | 'warning' | 'failed' | 'skipped';

/** The outcome of one check. */
export interface Finding {
  /** Which check, or which part of one: `scope users:read`, `gallery: settings`. */
  readonly check: string;
  readonly status: Status;
  /** Slack's error code, or ours where there was no answer; null where nothing was refused. */
  readonly code: string | null;
  /** What was found, and how to fix it. */
  readonly text: string;
}

/** Gathers the findings. */
export interface Report {
  ok(check: string, text: string): void;
  warning(check: string, problem: Problem): void;
  failed(check: string, problem: Problem): void;
  skipped(check: string, text: string): void;
  /** What `--json` prints. */
  toJson(): string;
  summarize(): string;
  exitCode(): number;
}

export interface Problem {
  readonly code: string;
  readonly text: string;
}

/** `show` gets each line as soon as the check has ended. The tokens are masked, whatever Slack repeats. */
export function createReport(tokens: readonly Secret<string>[], show: (line: string) => void): Report {
  const findings: Finding[] = [];
  const masked = (text: string) =>
    tokens.reduce((rest, token) => rest.replaceAll(token.reveal(), '[token]'), text);
  const clean = (text: string) => masked(text).replace(/[\p{Cc}\p{Cf}]/gu, ' ');
  const add = (check: string, status: Status, code: string | null, text: string) => {
    const finding = { check: clean(check), status, code: code && clean(code), text: clean(text) };
    findings.push(finding);
    show(`${MARKS[status]} ${finding.check}: ${finding.text}`);
  };
  const count = (status: Status) => findings.filter((each) => each.status === status).length;
  return {
    ok: (check, text) => add(check, 'ok', null, text),
    warning: (check, { code, text }) => add(check, 'warning', code, text),
    failed: (check, { code, text }) => add(check, 'failed', code, text),
    skipped: (check, text) => add(check, 'skipped', null, text),
    toJson: () => JSON.stringify({ version: 1, ok: count('failed') === 0, checks: findings }, undefined, 2),
    summarize: () =>
      `${count('ok')} ok, ${count('warning')} warnings, ${count('failed')} to fix, ${count('skipped')} skipped.`,
    exitCode: () => (count('failed') === 0 ? 0 : 1),
  };
}

const MARKS: Readonly<Record<Status, string>> = {
  ok: '✓ ok     ',
  warning: '! warning',
  failed: '✗ FIX    ',
  skipped: '– skipped',
};
