/** The style of the page on which workflows are run, light and dark; its colors are those of the sandbox's page. */
export const PAGE_STYLE = `
:root{color-scheme:light dark;--ink:light-dark(#1b1f24,#e4e6e9);--ink-2:light-dark(#59616b,#a7afb8);
--line:light-dark(#7a838e,#8b949e);--danger:light-dark(#b3261e,#ff9c93)}
body{margin:0;background:light-dark(#fff,#1a1d21);color:var(--ink);font:15px/1.47 system-ui,"Segoe UI",sans-serif}
main{max-width:40rem;margin:0 auto;padding:1.5rem 1rem 3rem}
h1{font-size:1.4rem;margin:0}h2{font-size:1.1rem;margin:1.5rem 0 .25rem}
p{margin:.5rem 0}small{color:var(--ink-2)}
label{display:block;font-weight:600}
small{font-weight:400}
input,select{display:block;box-sizing:border-box;width:100%;margin-top:.25rem;padding:.45rem .6rem;font:inherit;font-weight:400;
color:inherit;background:light-dark(#fff,#22262b);border:1px solid var(--line);border-radius:6px}
button{padding:.5rem 1.25rem;font:inherit;font-weight:600;color:#fff;background:light-dark(#0f6b5c,#167f6d);border:0;
border-radius:6px;cursor:pointer}
:focus-visible{outline:2px solid light-dark(#1268d3,#7fb4ff);outline-offset:2px}
.dot{display:inline-block;width:.65rem;height:.65rem;border-radius:50%;background:light-dark(#0b57c2,#7fb4ff)}
.completed{background:light-dark(#0b6b43,#6fd3a4)}.failed{background:var(--danger)}
ol{list-style:none;margin:.5rem 0;padding:0}
li{padding:.6rem 0;border-top:1px solid light-dark(#d9dde2,#3a4047);overflow-wrap:anywhere}
.problem{color:var(--danger);font-weight:600}`;
