// Bessel and Airy functions and the scaled error function: Chebyshev series, for `D` = double or a SIMD vector of doubles.
//
// Every float is computed in double, so its last bit is right, and one text serves both dtypes and the GPU. The tables
// interpolate at 80 Chebyshev nodes in 45 digits, cut where a term is below 3e-17 of the largest. Ranges: Cephes.
#pragma once

namespace weir {
namespace formulas {

// ---- tables: coefficients of T0(t), T1(t), ... ------------------------------------------------------------------
// exp(-x) I0(x), x = 4 (t + 1).
inline constexpr double i0_near[] = {
    0.33839763720473803, -0.3046826723431984, 0.17162090152220877, -0.09490109704804764, 0.04930528423967071, -0.02373741480589947,
    0.010546460394594998, -0.004324309995050576, 0.0016394756169413357, -0.0005763755745385824, 0.00018850288509584165,
    -5.754195010082104e-05, 1.6448448070728896e-05, -4.4167383584587505e-06, 1.1173875391201037e-06, -2.670793853940612e-07,
    6.046995022541919e-08, -1.300025009986248e-08, 2.6598237246823866e-09, -5.189795601635263e-10, 9.675809035373237e-11,
    -1.726826291441556e-11, 2.95505266312964e-12, -4.856446783111929e-13, 7.676185498604936e-14, -1.1685332877993451e-14,
    1.715391285555133e-15, -2.431279846547955e-16, 3.3307945188222384e-17};
// sqrt(x) exp(-x) I0(x), x = 16 / (t + 1).
inline constexpr double i0_far[] = {
    0.4022452055070544, 0.0033691164782556943, 6.889758346916825e-05, 2.8913705208347567e-06, 2.0489185894690638e-07,
    2.266668990498178e-08, 3.3962320257083865e-09, 4.94060238822497e-10, 1.1889147107846439e-11, -3.1499165279632416e-11,
    -1.3215811840447713e-11, -1.7941785315068062e-12, 7.180124451383666e-13, 3.8527783827421426e-13, 1.54008621752141e-14,
    -4.150569347287222e-14, -9.554846698828307e-15, 3.8116806693526224e-15, 1.7725601330565263e-15, -3.425485619677219e-16,
    -2.8276239805165836e-16, 3.461222867697461e-17, 4.46562142029676e-17};
// exp(-x) I1(x) / x.
inline constexpr double i1_near[] = {
    0.12629359322181682, -0.17641651835783406, 0.1026436586898471, -0.05294598120809499, 0.024726449030626516,
    -0.010564084894626197, 0.004156422944312888, -0.0015135724506312532, 0.0005122859561685758, -0.00016176081582589674,
    4.781565107550054e-05, -1.3273163656039436e-05, 3.4702513081376785e-06, -8.568720264695455e-07, 2.0032947535521353e-07,
    -4.445059128796328e-08, 9.381537386495773e-09, -1.8872497517228294e-09, 3.625590281552117e-10, -6.663489723502027e-11,
    1.1736186298890901e-11, -1.9839743977649436e-12, 3.223793365945575e-13, -5.042185504727912e-14, 7.600684294735408e-15,
    -1.1055969477353862e-15, 1.5536319577362005e-16, -2.111421214358166e-17};
// sqrt(x) exp(-x) I1(x).
inline constexpr double i1_far[] = {
    0.38928811750914005, -0.009761097491361469, -0.00011058893876262371, -3.882564808877691e-06, -2.512236237870209e-07,
    -2.6314688468895196e-08, -3.835380385964237e-09, -5.589743462196584e-10, -1.8974958123505413e-11, 3.2526035830154884e-11,
    1.4125807436613782e-11, 2.0356285441470896e-12, -7.198551776245908e-13, -4.0835511110921974e-13, -2.1015418427726643e-14,
    4.272440016711951e-14, 1.0420276984128802e-14, -3.8144030724370075e-15, -1.8803547755107825e-15, 3.3082023109209285e-16,
    2.96262899764595e-16, -3.209525921993424e-17, -4.6503053684893586e-17};
// K0(x) + log(x / 2) I0(x), x^2 = 2 (t + 1).
inline constexpr double k0_near[] = {
    -0.2676636966169514, 0.3442898999246285, 0.0359799365153615, 0.001264615411446926, 2.286212103119452e-05,
    2.5347910790261494e-07, 1.904516377220209e-09, 1.0349695257633625e-11, 4.2598161427910826e-14, 1.3744654358807508e-16};
// sqrt(x) exp(x) K0(x), x = 4 / (t + 1).
inline constexpr double k0_far[] = {
    1.2201515410329777, -0.0314481013119645, 0.0015698838857300533, -0.00012849549581627802, 1.39498137188765e-05,
    -1.8317555227191195e-06, 2.766813639445015e-07, -4.660489897687948e-08, 8.574034017414225e-09, -1.6975345093890614e-09,
    3.5773972814003283e-10, -7.957489244477396e-11, 1.8559491149549264e-11, -4.514597883374519e-12, 1.1403405882073441e-12,
    -2.9800969231481784e-13, 8.032890775068375e-14, -2.2275133267462965e-14, 6.340076476276646e-15, -1.848593377920907e-15,
    5.5120559994043335e-16, -1.6782311257549006e-16, 5.2103917776435543e-17};
// x (K1(x) - log(x / 2) I1(x)).
inline constexpr double k1_near[] = {
    0.7626501136694739, -0.3531559607765449, -0.12261118082265715, -0.006975723859639864, -0.0001730288957513052,
    -2.4334061415659684e-06, -2.213387630734726e-08, -1.4114883926335278e-10, -6.666901694199329e-13, -2.427449850519366e-15};
// sqrt(x) exp(x) K1(x).
inline constexpr double k1_far[] = {
    1.3603130952422213, 0.10392373657681724, -0.002857816859622779, 0.00019521551847135162, -1.936197974166083e-05,
    2.406484947837217e-06, -3.5019606030878126e-07, 5.7410841254500495e-08, -1.0345762465678097e-08, 2.0150497551970347e-09,
    -4.1903547593419254e-10, 9.218315187605315e-11, -2.129967838427791e-11, 5.139639673482343e-12, -1.2891739609498229e-12,
    3.348419666052243e-13, -8.976705182010146e-14, 2.4771544242195988e-14, -7.0198370892147685e-15, 2.038703166239861e-15,
    -6.057047270643018e-16, 1.8380935752430455e-16, -5.689462849193648e-17};
// J0(x) without its first two zeros, x^2 = 32 (t + 1).
inline constexpr double j0_near[] = {
    0.0019903555001601486, -0.002620939138497025, 0.0008687721472062577, -0.00017040584951557357, 2.204908639454817e-05,
    -2.0248894980012834e-06, 1.3898025173428905e-07, -7.406701254344167e-09, 3.1559927583611334e-10, -1.1003860827939697e-11,
    3.1989232970233477e-13, -7.875041254709154e-15, 1.6632588015211278e-16, -3.0475993756698376e-18};
// J1(x) / x without its first two zeros.
inline constexpr double j1_near[] = {
    0.00027895709887613106, -0.0003115684036643562, 8.553646588540538e-05, -1.4149356425623485e-05, 1.576470099225889e-06,
    -1.269075502369425e-07, 7.747614077073057e-09, -3.716577146675772e-10, 1.4395417669312554e-11, -4.60007822413452e-13,
    1.2341465589619718e-14, -2.8205466239524856e-16, 5.558821065951572e-18, -9.546930865755219e-20};
// Y0(x) - 2 / pi log(x) J0(x).
inline constexpr double y0_near[] = {
    -0.03314611320328494, -0.2744743055297453, 0.17903431407718265, 0.26156734625504663, -0.17730201278114358, 0.04719668959576339,
    -0.007287962479552079, 0.0007531135932577742, -5.632079141056987e-05, 3.206532537654801e-06, -1.44072332740187e-07,
    5.248794787330516e-09, -1.5837552541812015e-10, 4.02633081830612e-12, -8.747341203310769e-14, 1.6434898714919468e-15,
    -2.6977881152566837e-17};
// (Y1(x) - 2 / pi (log(x) J1(x) - 1 / x)) / x.
inline constexpr double y1_near[] = {
    0.0025380132357417816, -0.01608717304766875, -0.09591204536083074, 0.08445197259652346, -0.028328123944594365,
    0.005289897544167113, -0.0006414551451326356, 5.505982873338744e-05, -3.53808001868935e-06, 1.7707804556154404e-07,
    -7.11055004989928e-09, 2.344337905911516e-10, -6.4651518414115946e-12, 1.51429151205002e-13, -3.0511859694473254e-15,
    5.34668038572867e-17};
// cosine part of J0(x), x^2 = 128 / (t + 1).
inline constexpr double p0_far[] = {
    0.9994603493475187, -0.0005365220468132117, 3.0751847875194745e-06, -5.1705945376060975e-08, 1.6306464635151382e-09,
    -7.86409137723707e-11, 5.168262387349193e-12, -4.3045788699253914e-13, 4.3265957431549404e-14, -5.069034095935236e-15,
    6.748072215733873e-16, -1.0011513723467786e-16};
// sine part of J0(x), times x.
inline constexpr double q0_far[] = {
    -0.12444683684269607, 0.0005470815954089319, -5.9315987288485175e-06, 1.4377965798375193e-07, -5.817532749493056e-09,
    3.376097523734991e-10, -2.565397936797308e-11, 2.404916100281365e-12, -2.6690625482579414e-13, 3.4041800321963686e-14,
    -4.87994410531204e-15, 7.729703176242605e-16, -1.3348852171502517e-16, 2.4865952389390515e-17, -4.952892629886516e-18};
// cosine part of J1(x).
inline constexpr double p1_far[] = {
    1.0009030408600137, 0.0008989898330859408, -3.987284300488908e-06, 6.177633960644299e-08, -1.8718907491063067e-09,
    8.816898659582339e-11, -5.704863640395645e-12, 4.699195515230542e-13, -4.6842237839904895e-14, 5.452674896044717e-15,
    -7.221180842274018e-16, 1.0667689114335412e-16};
// sine part of J1(x), times x.
inline constexpr double q1_far[] = {
    0.3742222965562826, -0.0007702178839325664, 7.3108922063643636e-06, -1.676782510726674e-07, 6.583354662120443e-09,
    -3.749090950541556e-10, 2.8121750359748866e-11, -2.61145253946232e-12, 2.8774212663332235e-13, -3.649001916061838e-14,
    5.206626366226707e-15, -8.215318025458595e-16, 1.4141084390211833e-16, -2.626761589838529e-17};
// (1 + 2 x) erfcx(x), t = (x - 3.75) / (x + 3.75).
inline constexpr double erfcx_all[] = {
    1.1775789345674017, -0.004590054580646478, -0.08424913336651792, 0.05920993999819189, -0.026658668435305753,
    0.009074997670705265, -0.002413163540417608, 0.0004907758365258086, -6.916973302501207e-05, 4.13902798607301e-06,
    7.74038306619849e-07, -2.1886401049234397e-07, 1.076499946567091e-08, 4.5219598112182875e-09, -7.754400208831348e-10,
    -6.31808834088665e-11, 2.8687950109306935e-11, 1.9455868545785715e-13, -9.654696748434287e-13, 3.2525481481251405e-14,
    3.3478119482528366e-14, -1.8645628807948696e-15, -1.2507950534055964e-15, 7.418235233502443e-17, 5.068148896771372e-17};
// Ai(x), x = 3.5 t - 1.5.
inline constexpr double ai_near[] = {
    0.15168947628223672, -0.005228692408472365, -0.007183007563342123, -0.2750085825170078, 0.15267285652736612,
    0.11299722901833571, -0.12930163519980795, 0.021717950423082666, 0.024911850702736413, -0.01433585742189573,
    0.000696689451639598, 0.001974398933529019, -0.0007230393972252199, -1.6112414526177467e-05, 8.133273673249939e-05,
    -2.0775365813975462e-05, -1.6054762687164758e-06, 2.0560158255601387e-06, -3.825520517284178e-07, -4.913870596184178e-08,
    3.514168642051892e-08, -4.846385010860496e-09, -8.897812059422213e-10, 4.329786248648808e-10, -4.414745597439301e-11,
    -1.1096862995764342e-11, 4.024832028797832e-12, -2.9609936249846454e-13, -1.0257635127287476e-13, 2.920579876829024e-14,
    -1.4619955511486232e-15, -7.35505053091767e-16, 1.6986548408182807e-16};
// 2 sqrt(pi) x^(1/4) exp(z) Ai(x), z = 2/3 x^(3/2) = 2/3 2^(5/2) / (t + 1).
inline constexpr double ai_right[] = {
    0.9844053049171552, -0.014792784850104199, 0.0007327177465426715, -6.12595423417825e-05, 6.83476697557269e-06,
    -9.237229735403982e-07, 1.436225340438052e-07, -2.489319422322096e-08, 4.709793440054328e-09, -9.583863708112733e-10,
    2.0745855483677591e-10, -4.737267332192277e-11, 1.1336099808224236e-11, -2.827706782319351e-12, 7.320712095125598e-13,
    -1.9599793911089723e-13, 5.4101162570683925e-14, -1.5356466802223836e-14, 4.472340393300025e-15, -1.3338094674756683e-15,
    4.066582046456231e-16, -1.265583225645289e-16, 4.015126334015871e-17};
// cosine part of Ai(-x), z^2 = 2 (2/3 5^(3/2))^2 / (t + 1).
inline constexpr double ai_p_left[] = {
    0.9996723415461005, -0.0003255483561055322, 2.069745155969119e-06, -3.890961736474424e-08, 1.3645959446950337e-09,
    -7.265563438866682e-11, 5.234675629062907e-12, -4.749669415821452e-13, 5.172156139604189e-14, -6.533725295545284e-15,
    9.33927407277721e-16, -1.4823330512580455e-16};
// sine part of Ai(-x), times z.
inline constexpr double ai_q_left[] = {
    0.06911528040160503, -0.0003251060364586695, 3.945977743866323e-06, -1.068929090514341e-07, 4.800334718951617e-09,
    -3.0691067169997637e-10, 2.5517594369013928e-11, -2.601606731752434e-12, 3.123666855119186e-13, -4.2903251712839485e-14,
    6.596710595977435e-15, -1.116833216041688e-15, 2.0551350158850327e-16, -4.0680056098438254e-17, 8.589182631392619e-18};

// ---- functions --------------------------------------------------------------------------------------------------
/// What is below 2 to this power is not seen of a series near 1 whose sum is rounded to T.
template <class T> inline constexpr int kUnseen = -1000;
template <> inline constexpr int kUnseen<float> = -34;
template <template <class> class V> inline constexpr int kUnseen<V<float>> = kUnseen<float>;
/// The same of a series that is a part of a sum, or a factor, where that has zeros.
template <class T> inline constexpr int kUnseenBesideZeros = kUnseen<T> == kUnseen<float> ? -50 : -1000;

/// Of c[0] T0(t) + c[1] T1(t) + ... as many terms as are wanted: the last ones are left out that are below 2^unseen together.
template <auto& c, int unseen> constexpr int terms() {
  int n = sizeof c / sizeof c[0];
  double least = 1;
  for (int i = unseen; i < 0; i++) least *= 0.5;
  for (double rest = 0; n > 2; n--) {
    rest += c[n - 1] < 0 ? -c[n - 1] : c[n - 1];
    if (rest > least) break;
  }
  return n;
}
/// The coefficients of the powers of t in the first n terms, by T(k + 1) = 2 t T(k) - T(k - 1).
template <auto& c, int n> struct Powers {
  double v[n] = {};
  constexpr Powers() {
    double before[n] = {}, now[n] = {};
    now[0] = 1;
    for (int k = 0; k < n; k++) {
      for (int i = 0; i <= k; i++) v[i] += c[k] * now[i];
      for (int i = n - 1; i >= 0; i--) {
        const double next = (k ? 2.0 : 1.0) * (i ? now[i - 1] : 0.0) - before[i];
        before[i] = now[i];
        now[i] = next;
      }
    }
  }
};
/// The sum of the series: by Clenshaw's recurrence, or, where the last digits of a double are not wanted, by powers of t, which take half of the
/// steps; even and odd ones do not wait for each other.
template <auto& c, int unseen = kUnseen<double>, class D> D chebyshev(D t) {
  constexpr int n = terms<c, unseen>();
  if constexpr (unseen != kUnseen<double>) {
    constexpr Powers<c, n> powers;
    const D square = t * t;
    D even(powers.v[(n - 1) / 2 * 2]), odd(powers.v[(n - 2) / 2 * 2 + 1]);
    for (int k = (n - 1) / 2 * 2 - 2; k >= 0; k -= 2) even = fma(even, square, D(powers.v[k]));
    for (int k = (n - 2) / 2 * 2 - 1; k >= 0; k -= 2) odd = fma(odd, square, D(powers.v[k]));
    return fma(odd, t, even);
  } else {
    D b(c[n - 1]), before(0.0), twice = t + t;
    for (int k = n - 2; k > 0; k--) {
      D next = fma(twice, b, D(c[k]) - before);
      before = b;
      b = next;
    }
    return fma(t, b, D(c[0]) - before);
  }
}

/// near() where the mask holds, far() elsewhere; what no lane wants is not computed.
template <class M, class F, class G> auto choose(M mask, F near, G far) {
  if (!any(!mask)) return near();
  if (!any(mask)) return far();
  return where(mask, near(), far());
}

/// exp(-a) I0(a) and exp(-a) I1(a) of a >= 0.
template <int unseen = kUnseen<double>, class D> D i0_scaled(D a) {
  return choose(a <= D(8.0), [&] { return chebyshev<i0_near, unseen>(a * D(0.25) - D(1.0)); }, [&] { const D r = D(1.0) / a; return chebyshev<i0_far, unseen>(D(16.0) * r - D(1.0)) * sqrt(r); });
}
template <int unseen = kUnseen<double>, class D> D i1_scaled(D a) {
  return choose(a <= D(8.0), [&] { return a * chebyshev<i1_near, unseen>(a * D(0.25) - D(1.0)); },
                [&] { const D r = D(1.0) / a; return chebyshev<i1_far, unseen>(D(16.0) * r - D(1.0)) * sqrt(r); });
}

/// log(x) of x > 0, and anything of others, which the C library's vectors compute one by one.
template <class D> D log_of_positive(D x) { return log(where(x > D(0.0), x, D(1.0))); }

/// `y` where x > 0 and finite; NaN below zero, infinity at it.
template <class D> D of_positive(D x, D y) {
  y = where(x > largest(x), D(0.0), y);
  return where(x > D(0.0), y, where(x == D(0.0), D(INFINITY), D(NAN)));
}
/// exp(x) K0(x) and exp(x) K1(x).
template <int unseen = kUnseen<double>, class D> D k0_scaled(D x) {
  auto near = [&] {
    D e = exp(x);
    return e * (chebyshev<k0_near, unseen>(D(0.5) * x * x - D(1.0)) - log_of_positive(D(0.5) * x) * e * i0_scaled<unseen>(x));
  };
  return of_positive(x, choose((x > D(0.0)) & (x <= D(2.0)), near, [&] { const D r = D(1.0) / x; return chebyshev<k0_far, unseen>(D(4.0) * r - D(1.0)) * sqrt(r); }));
}
template <int unseen = kUnseen<double>, class D> D k1_scaled(D x) {
  auto near = [&] {
    D e = exp(x);
    return e * (chebyshev<k1_near, unseen>(D(0.5) * x * x - D(1.0)) / x + log_of_positive(D(0.5) * x) * e * i1_scaled<unseen>(x));
  };
  return of_positive(x, choose((x > D(0.0)) & (x <= D(2.0)), near, [&] { const D r = D(1.0) / x; return chebyshev<k1_far, unseen>(D(4.0) * r - D(1.0)) * sqrt(r); }));
}

/// x^2 - z^2 of a zero z = high + low: exact to the last bits beside it.
template <class D> D from_zero(D x, double high, double low) { return ((x - D(high)) - D(low)) * (x + D(high)); }
/// Beyond 8: sqrt(2 / (pi a)) times the cosine and sine of the phase, of which a pair of tables says how much.
template <auto& cosines, auto& sines, int unseen, class D> struct Wave {
  D cosine, sine, amplitude, p, q;
  explicit Wave(D a) : cosine(cos(a)), sine(sin(a)), amplitude(D(0.56418958354775628695) / sqrt(a)) {
    const D r = D(1.0) / a, t = D(128.0) * (r * r) - D(1.0);
    p = chebyshev<cosines, unseen>(t), q = chebyshev<sines, unseen>(t) * r;
  }
};
/// Bessel functions of a >= 0: below 8 by series in a^2, beyond as waves.
template <int unseen = kUnseen<double>, class D> D j0_near_of(D a) {
  return from_zero(a, 2.404825557695773, -1.176691651530894e-16) * from_zero(a, 5.520078110286311, 8.088597146146722e-17) *
         chebyshev<j0_near, unseen>(a * a * D(1.0 / 32) - D(1.0));
}
template <int unseen = kUnseen<double>, class D> D j1_near_of(D a) {
  return a * (from_zero(a, 3.8317059702075125, -1.5269184090088067e-16) * from_zero(a, 7.015586669815619, -9.414165653410389e-17) *
              chebyshev<j1_near, unseen>(a * a * D(1.0 / 32) - D(1.0)));
}
template <int unseen = kUnseen<double>, class D> D j0_of(D a) {
  return choose(a <= D(8.0), [&] { return j0_near_of<unseen>(a); },
                [&] { Wave<p0_far, q0_far, unseen, D> w(a); return w.amplitude * (w.p * (w.cosine + w.sine) - w.q * (w.sine - w.cosine)); });
}
template <int unseen = kUnseen<double>, class D> D j1_of(D a) {
  return choose(a <= D(8.0), [&] { return j1_near_of<unseen>(a); },
                [&] { Wave<p1_far, q1_far, unseen, D> w(a); return w.amplitude * (w.p * (w.sine - w.cosine) + w.q * (w.sine + w.cosine)); });
}
/// Those of the second kind, of x > 0; what they give elsewhere is not wanted.
template <int unseen = kUnseen<double>, class D> D y0_of(D x) {
  auto near = [&] { return chebyshev<y0_near, unseen>(x * x * D(1.0 / 32) - D(1.0)) + D(0.63661977236758134308) * log_of_positive(x) * j0_near_of<unseen>(x); };
  return choose(!(x > D(8.0)), near, [&] { Wave<p0_far, q0_far, unseen, D> w(x); return w.amplitude * (w.p * (w.sine - w.cosine) + w.q * (w.cosine + w.sine)); });
}
template <int unseen = kUnseen<double>, class D> D y1_of(D x) {
  auto near = [&] {
    return x * chebyshev<y1_near, unseen>(x * x * D(1.0 / 32) - D(1.0)) + D(0.63661977236758134308) * (log_of_positive(x) * j1_near_of<unseen>(x) - D(1.0) / x);
  };
  return choose(!(x > D(8.0)), near, [&] { Wave<p1_far, q1_far, unseen, D> w(x); return w.amplitude * (w.q * (w.sine - w.cosine) - w.p * (w.sine + w.cosine)); });
}
/// `y` of x > 0; NaN below zero, -infinity at it.
template <class D> D of_second_kind(D x, D y) { return where(x == D(0.0), D(-INFINITY), where(x < D(0.0), D(NAN), y)); }

/// Waves to the left of -5, one series around zero, a decaying exponential from 2 on; NaN at infinity, as PyTorch's.
template <class D> D airy(D x) {
  D a = abs(x), z = D(2.0 / 3) * a * sqrt(a), root = D(0.56418958354775628695) / sqrt(sqrt(a));
  auto left = [&] {
    D part = D(7.4535599249992989880) / z, t = D(2.0) * part * part - D(1.0), p = chebyshev<ai_p_left>(t), q = chebyshev<ai_q_left>(t) / z;
    D cosine = cos(z), sine = sin(z);
    return D(0.70710678118654752440) * root * (p * (cosine + sine) + q * (sine - cosine));
  };
  auto right = [&] { return D(0.5) * root * exp(-z) * chebyshev<ai_right>(D(3.7712361663282534) / z - D(1.0)); };
  auto not_left = [&] { return choose(x > D(2.0), right, [&] { return chebyshev<ai_near>((x + D(1.5)) / D(3.5)); }); };
  return where(a <= largest(a), choose(x < D(-5.0), left, not_left), D(NAN));
}

/// exp(x^2) erfc(x) of x >= 0. Substitution: Shepherd and Laframboise 1981.
template <int unseen = kUnseen<double>, class D> D erfcx_of_positive(D x) { return chebyshev<erfcx_all, unseen>(D(1.0) - D(7.5) / (x + D(3.75))) / (D(1.0) + x + x); }
template <int unseen = kUnseen<double>, class D> D erfcx_anywhere(D x) {
  D right = erfcx_of_positive<unseen>(abs(x));
  return choose(x < D(0.0), [&] { return D(2.0) * exp(x * x) - right; }, [&] { return right; });
}
/// log of the normal distribution function: through erfcx where the tail is thin.
template <int unseen = kUnseen<double>, class D> D log_normal_cdf(D x) {
  D s = x * D(0.70710678118654752440), right = erfcx_of_positive<unseen>(abs(s));
  auto not_right = [&] {  // beside 0 half an error function is a small part of the sum, and its error too
    auto middle = choose(s < D(-1.0), [&] { return D(0.5) * right; }, [&] { return D(0.5) + D(0.5) * erf(s); });
    return log(middle) - where(s < D(-1.0), s * s, D(0.0));
  };
  return choose(s > D(0.5), [&] { return log1p(D(-0.5) * exp(-s * s) * right); }, not_right);
}
/// Derivative of log_normal_cdf: density over function, in which the density cancels to the left. With erfcx as c / (1 + 2 a) one division serves both sides.
template <int unseen = kUnseen<double>, class D> D log_normal_cdf_slope(D x) {
  const D a = abs(x * D(0.70710678118654752440)), c = chebyshev<erfcx_all, unseen>(D(1.0) - D(7.5) / (a + D(3.75)));
  const auto right = x > D(0.0);
  const D kept = where(right & (a > D(1e30)), D(1e30), a), width = D(1.0) + kept + kept;  // infinity times a density of 0 would be NaN
  if (!any(right)) return D(0.79788456080286535588) * width / c;
  const D e = exp(where(right, D(-0.5) * x * x, D(0.0)));
  return width * where(right, D(0.39894228040143267794) * e, D(0.79788456080286535588)) / where(right, width - D(0.5) * e * c, c);
}

}  // namespace formulas
}  // namespace weir
