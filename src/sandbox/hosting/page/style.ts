import { Html } from './html.ts';

/** The whole style of the account page: one column that fits 390 px, light or dark as the reader's system is. */
export const STYLE = new Html(`<style>
:root { color-scheme: light dark; --line: light-dark(#d9dce1, #3a3f47); --soft: light-dark(#f4f5f7, #23272e);
  --dim: light-dark(#5c6470, #a3abb8); --accent: light-dark(#1a5fb4, #8ab8ff); --bad: light-dark(#b3261e, #ff9a90);
  --good: light-dark(#1e7a3c, #7ddb9a); }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 16px; max-width: 920px; font: 15px/1.5 system-ui, sans-serif;
  background: light-dark(#fff, #181b20); color: light-dark(#1d2127, #e6e9ee); }
a { color: var(--accent); }
h1 { font-size: 22px; margin: 8px 0; } h2 { font-size: 17px; margin: 28px 0 8px; }
h2 + p { margin-top: 0; } p { margin: 8px 0; }
.dim { color: var(--dim); } .bad { color: var(--bad); } .good { color: var(--good); }
.balance { font-size: 30px; font-weight: 600; margin: 0; }
.box { border: 1px solid var(--line); border-radius: 8px; padding: 12px; background: var(--soft); margin: 12px 0; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: 5px 14px 5px 0; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { font-weight: 500; color: var(--dim); } .amount { text-align: right; font-variant-numeric: tabular-nums; }
td form { margin: 0; }
form.row { display: flex; flex-wrap: wrap; gap: 8px; align-items: end; margin: 8px 0; }
label { display: flex; flex-direction: column; font-size: 13px; color: var(--dim); }
input, select, button { font: inherit; padding: 5px 9px; border: 1px solid var(--line); border-radius: 6px;
  background: light-dark(#fff, #14171b); color: light-dark(#1d2127, #e6e9ee); font-size: 15px; max-width: 100%; }
input[name=amount], input[name=price], input[name=seconds] { width: 110px; }
button { cursor: pointer; background: light-dark(#e9edf3, #303640); }
@media (max-width: 480px) { th, td { padding-right: 10px; font-size: 14px; } }
code { font: 14px ui-monospace, monospace; overflow-wrap: anywhere; }
.key { font-size: 16px; user-select: all; }
</style>`);
