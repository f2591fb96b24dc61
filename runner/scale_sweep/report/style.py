"""The page's CSS: light and dark by the reader's setting, wide and narrow, on screen and on paper.

Colours are Okabe and Ito's set, darkened or lightened for contrast, so that they can be distinguished with any colour
vision. Shape or position always shows the same as colour. Refuses fonts, images or anything else from elsewhere.
"""

_LIGHT = """
--paper:#fff;--raised:#f6f7f8;--ink:#16191d;--soft:#59616b;--rule:#dfe3e7;--grid:#e9ecef;--blue:#0067a8;
--orange:#b34a00;--green:#00795a;--purple:#a3487f;--band:#0067a8;--warn:#fdf4e3;--warn-edge:#d99a1c;--shade:#eef3f7;
--edge:#16191d2e;
"""
_DARK = """
--paper:#14171a;--raised:#1d2125;--ink:#e8eaed;--soft:#a0a8b1;--rule:#343a41;--grid:#292e34;--blue:#5cb8f0;
--orange:#f29b4c;--green:#35c79a;--purple:#e08fc0;--band:#5cb8f0;--warn:#2b2415;--warn-edge:#c98f22;--shade:#20272e;
--edge:#e8eaed38;
"""

PLOT_CSS = """
.plot{display:block;width:100%;height:auto;font:12px system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
.plot .t{fill:var(--ink)}.plot .dim{fill:var(--soft)}
.plot .grid{stroke:var(--grid);stroke-width:1}.plot .zero,.plot .tick{stroke:var(--soft);stroke-width:1}
.plot .fit{fill:none;stroke:var(--blue);stroke-width:2.2}.plot .unsure{stroke-dasharray:2 4}
.plot .doubted{stroke:var(--orange);stroke-width:1.4;stroke-dasharray:2 4}
.plot .ideal{fill:none;stroke:var(--soft);stroke-width:1.4;stroke-dasharray:7 5}
.plot .band{fill:var(--band);opacity:.16;stroke:none}
.small-multiples{display:flex;flex-wrap:wrap;gap:8px}.small-multiples figure{margin:0;flex:0 1 300px}
.plot .heat{fill:var(--orange)}
.plot .mean{stroke:var(--ink);stroke-width:2}
.plot .interval{fill:none;stroke:var(--ink);stroke-width:1.4}
.plot .bar{fill:var(--blue);opacity:.75}
.plot .limit{fill:none;stroke:var(--orange);stroke-width:1.3;stroke-dasharray:3 3}
.plot .valid{fill:var(--blue);stroke:var(--paper);stroke-width:1}
.plot .invalid{fill:none;stroke:var(--orange);stroke-width:1.8}
.plot .published{fill:none;stroke:var(--purple);stroke-width:1.7}
.plot path.published{fill:var(--paper)}
.plot .ours{fill:none;stroke:var(--blue);stroke-width:2}.plot path.ours{fill:var(--blue)}
.plot .run-a{fill:none;stroke:var(--purple);stroke-width:1.7}.plot path.run-b{fill:var(--blue)}
.plot .run-b{fill:none;stroke:var(--blue);stroke-width:2}.plot .run-a.curve-line{stroke-dasharray:7 4}
.plot .subject{fill:none;stroke-width:1.8}.plot path.subject{fill:var(--paper)}
.plot .s0{stroke:var(--blue)}.plot path.s0.counted{fill:var(--blue)}
.plot .s1{stroke:var(--orange)}.plot path.s1.counted{fill:var(--orange)}
.plot .s2{stroke:var(--green)}.plot path.s2.counted{fill:var(--green)}
.plot .s3{stroke:var(--purple)}.plot path.s3.counted{fill:var(--purple)}
.plot .s4{stroke:var(--warn-edge)}.plot path.s4.counted{fill:var(--warn-edge)}
.plot .s5{stroke:var(--soft)}.plot path.s5.counted{fill:var(--soft)}
.plot .s6{stroke:var(--ink)}.plot path.s6.counted{fill:var(--ink)}
.plot .s7{stroke:var(--blue)}.plot path.s7.counted{fill:var(--blue)}
.plot .s8{stroke:var(--orange)}.plot path.s8.counted{fill:var(--orange)}
.plot .s9{stroke:var(--green)}.plot path.s9.counted{fill:var(--green)}
.plot .s1.curve-line{stroke-dasharray:8 3}.plot .s2.curve-line{stroke-dasharray:2 3}
.plot .s3.curve-line{stroke-dasharray:8 3 2 3}.plot .s4.curve-line{stroke-dasharray:12 4}
.plot .s5.curve-line{stroke-dasharray:4 4}.plot .s6.curve-line{stroke-dasharray:1 3}
.plot .s7.curve-line{stroke-dasharray:6 2 2 2 2 2}.plot .s8.curve-line{stroke-dasharray:16 3 2 3}
.plot .s9.curve-line{stroke-dasharray:3 6}
.plot .series{fill:none;stroke-width:1.5;stroke-linejoin:round}.plot .outside{stroke:var(--soft);opacity:.6}
.plot .s-rate{stroke:var(--blue)}.plot .s-server{stroke:var(--green)}.plot .s-client{stroke:var(--orange)}
.plot .s-disk{stroke:var(--purple)}
.plot .span{stroke:var(--blue);stroke-width:1.6}
.live .plot [data-trial]{cursor:pointer}.plot .m:hover{stroke:var(--ink);stroke-width:2}
.plot .chosen{stroke:var(--ink);stroke-width:3}
.plot .window{fill:var(--shade)}.plot .given{stroke:var(--green);stroke-width:1;stroke-dasharray:4 3}
.panel{font-size:11px}
"""

_PAGE_CSS = """
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);
 font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
main{max-width:1040px;margin:0 auto;padding:14px 20px 60px}
h1{font-size:27px;line-height:1.2;margin:2px 0 6px;overflow-wrap:anywhere}
h2{font-size:19px;margin:44px 0 10px;padding-top:14px;border-top:1px solid var(--rule)}
h3{font-size:15px;margin:22px 0 6px}
nav+section>h2{margin-top:6px;padding-top:0;border:0}
p{margin:6px 0;max-width:78ch}
.eyebrow,.question{max-width:none;margin:3px 0}
.eyebrow,.note,figcaption{color:var(--soft);font-size:13px}
.question{font-size:16px;color:var(--soft)}
.answer{font-size:18px;line-height:1.4;margin:10px 0;max-width:none;text-wrap:pretty}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(185px,1fr));gap:10px;margin:10px 0}
.tile{background:var(--raised);border-radius:8px;padding:6px 13px}
.tile b{display:block;font-size:16.5px;line-height:1.25;font-variant-numeric:tabular-nums}
.tile:only-child{max-width:240px}
.tile span{color:var(--soft);font-size:13px}
.chips{display:flex;flex-wrap:wrap;gap:6px;margin:8px 0;align-items:center}
.chip{border:1px solid currentColor;border-radius:99px;padding:0 10px;font-size:13px;white-space:nowrap}
.ok{color:var(--green)}.own{color:var(--blue)}.bad{color:var(--orange)}
.cautions{background:var(--warn);border-left:4px solid var(--warn-edge);border-radius:0 8px 8px 0;
 padding:7px 16px;margin:10px 0}
.cautions ul{margin:4px 0;padding-left:19px}.cautions li{margin:2px 0;overflow-wrap:anywhere}
.cautions .fold{margin:2px 0}
figure{margin:16px 0}
section[id],tr[id]{scroll-margin-top:12px}
.contents{font-size:13px;margin:10px 0}.contents ul{display:flex;flex-wrap:wrap;gap:2px 16px;list-style:none;
 margin:0;padding:0}
a{color:var(--blue)}
.save{display:flex;gap:12px;justify-content:flex-end;margin:0;max-width:none;font-size:12.5px}
.save::before{content:"save as";color:var(--soft)}
.save button{font:inherit;color:var(--blue);background:none;border:0;padding:0;text-decoration:underline;cursor:pointer}
.tip{position:fixed;z-index:2;max-width:min(360px,calc(100vw - 16px));padding:6px 10px;border-radius:6px;font-size:13px;
 line-height:1.4;white-space:pre-line;background:var(--ink);color:var(--paper);pointer-events:none}
.tip[hidden]{display:none}
.live tr[id]{cursor:pointer}tr.chosen>*{background:var(--shade)}tr:focus{outline:none}
.trial.chosen{background:var(--shade);outline:2px solid var(--blue);outline-offset:3px;border-radius:6px}
.variant{border-top:6px solid var(--rule);margin-top:60px;padding-top:24px}
.narrow{display:none}
.pair{display:grid;grid-template-columns:1fr 1fr;gap:26px;align-items:start}
.scroll{overflow-x:auto;margin:10px 0;background:
 linear-gradient(90deg,var(--paper) 10px,transparent) 0/30px 100% no-repeat local,
 linear-gradient(270deg,var(--paper) 10px,transparent) 100%/30px 100% no-repeat local,
 linear-gradient(90deg,var(--edge),transparent) 0/9px 100% no-repeat,
 linear-gradient(270deg,var(--edge),transparent) 100%/9px 100% no-repeat}
table{border-collapse:collapse;font-size:14px;font-variant-numeric:tabular-nums;min-width:100%}
th,td{padding:5px 10px;text-align:right;vertical-align:baseline;border-bottom:1px solid var(--rule)}
thead th{vertical-align:bottom}
th{font-weight:600;color:var(--soft);font-size:12.5px;line-height:1.3}
td{white-space:nowrap}
th:first-child,td:first-child{padding-left:2px}
tbody th{font-weight:400;font-size:inherit;line-height:inherit;color:inherit;white-space:nowrap}
caption{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.scroll{position:relative}.scroll:focus-visible,summary:focus-visible,a:focus-visible{outline:2px solid var(--blue);
 outline-offset:2px}
.w{text-align:left}
.dense{font-size:13px}.dense th,.dense td,.dense tbody th{padding:4px 5px}
tr.has-why td,tr.has-why th{border-bottom:0;padding-bottom:0}
td.w,td .after{white-space:normal}td.bad{white-space:normal;min-width:9em}
td.why{text-align:left;white-space:normal;color:var(--soft);font-size:12.5px;padding-top:0}
td.why.bad{color:var(--orange)}
.why span{display:inline-block;position:sticky;left:0;max-width:min(100ch,calc(100vw - 40px))}
.trial{display:grid;grid-template-columns:142px repeat(5,1fr);gap:8px;align-items:center;margin:4px 0}
.trial .name{font-size:13px;line-height:1.35;overflow-wrap:anywhere}
dl{display:grid;grid-template-columns:235px 1fr;gap:4px 16px;margin:10px 0}
dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
code,pre{font:13px/1.45 ui-monospace,"SF Mono",Consolas,"DejaVu Sans Mono",monospace}
.flag{white-space:nowrap}
pre{background:var(--raised);border-radius:8px;padding:10px 14px;white-space:pre-wrap;overflow-wrap:anywhere}
details{margin:10px 0}summary{cursor:pointer;color:var(--soft)}
@media screen and (max-width:760px){
 main{padding:18px 14px 40px}h1{font-size:22px}.answer{font-size:17px}
 .wide{display:none}.narrow{display:block}.narrow .plot{max-width:520px}.pair{grid-template-columns:1fr}
 .trial{grid-template-columns:1fr 1fr;margin:12px 0}.trial .name{grid-column:1/-1}
 .tiles{grid-template-columns:repeat(2,minmax(0,1fr))}.tile{padding:8px 10px}.tile b{font-size:15px}
 td.w{white-space:nowrap}td.bad{white-space:normal}thead th{min-width:6em}thead th:first-child{min-width:0}
 dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:8px}
}
@media print{
 @page{margin:11mm}
 body{font-size:12px;line-height:1.4}main{max-width:none;padding:0}
 h1{font-size:21px}h2{font-size:15px;margin:12px 0 5px;padding-top:6px;break-after:avoid}h3{font-size:13px;
 margin:12px 0 4px;break-after:avoid}
 .question,.answer{font-size:14px;margin:6px 0}.note,.eyebrow,figcaption{font-size:10.5px}p{max-width:none}
 .note{margin:3px 0}ul{margin:6px 0}
 .tiles{grid-template-columns:repeat(5,1fr);gap:6px;margin:8px 0}.tile{padding:5px 8px;border:1px solid var(--rule)}
 .tile b{font-size:15px}.tile span{font-size:10.5px}
 .cautions{border:1px solid var(--warn-edge);margin:8px 0;padding:5px 12px}
 .cautions ul{columns:2;column-gap:26px;font-size:10.5px}
 figure,.trial,tr,.tile,li{break-inside:avoid}figure{margin:8px 0}tr.has-why{break-after:avoid}
 table,.dense,td.why{font-size:10.5px}th{font-size:10px}th,td,.dense th,.dense td,.dense tbody th{padding:1px 5px}
 .scroll{overflow:visible;background:none;margin:5px 0}
 dl{grid-template-columns:150px 1fr;gap:0 10px;margin:6px 0;font-size:10.5px;line-height:1.3}pre,code{font-size:10.5px}
 .trial{grid-template-columns:150px repeat(5,1fr);gap:4px;margin:1px 0}.trial .name{font-size:10px}
 .narrow,.contents,.save,.tip{display:none}.wide{display:block}
 .fold::details-content{content-visibility:visible;display:block;height:auto}.fold>summary{display:none}
}
"""


def _flat(css: str) -> str:
    return "".join(line.strip() for line in css.splitlines())


THEME_CSS = (
    f":root{{color-scheme:light dark;{_flat(_LIGHT)}}}"
    f"@media screen and (prefers-color-scheme:dark){{:root{{{_flat(_DARK)}}}}}"
)
PAGE_STYLE = THEME_CSS + _flat(_PAGE_CSS) + _flat(PLOT_CSS)
PLOT_STYLE = THEME_CSS + _flat(PLOT_CSS)
